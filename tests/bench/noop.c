/* The least that a process can do: built static, it is the floor of everything that is started. */
int main(void)
{
    return 0;
}
