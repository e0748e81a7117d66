/* What makes a board of a QEMU q35 guest: the kernel's own drivers (acpi-cpufreq, thermal, fan, battery, ac) find in this table what they
 * drive. All state is in four bytes of QEMU's pc-testdev, which can be read and written from outside of the guest (monitor: i, o):
 *   0xE0, 0xE1   the clock of processor 0 and 1 in steps of 100 MHz, as the kernel has set it
 *   0xE2         the temperature of the processors in degrees; 0, as after a reset, is 38
 *   0xE3         bit 7: the mains are off; bits 6..0: what is missing from a full battery, in percent */
DefinitionBlock ("", "SSDT", 2, "QUIESC", "TESTBED", 1)
{
    External (\_SB.CPUS.C000, ProcessorObj)
    External (\_SB.CPUS.C001, ProcessorObj)

    Scope (\_SB)
    {
        OperationRegion (OUTS, SystemIO, 0xE0, 4)
        Field (OUTS, ByteAcc, NoLock, Preserve) { CLK0, 8, CLK1, 8, DEGC, 8, POWR, 8 }

        /* _PSS rows: MHz, mW, microseconds of a change (core, bus master), the byte that asks for it and says that it is so */
        Name (STEP, Package (4)
        {
            Package (6) { 1800, 3600, 40, 8, 18, 18 },
            Package (6) { 1400, 2300, 40, 8, 14, 14 },
            Package (6) { 1000, 1300, 40, 8, 10, 10 },
            Package (6) {  600,  600, 40, 8,  6,  6 }
        })

        Name (BLOW, Zero)
        PowerResource (BLWR, 0, 0)
        {
            Method (_STA, 0) { Return (BLOW) }
            Method (_ON, 0) { Store (One, BLOW) }
            Method (_OFF, 0) { Store (Zero, BLOW) }
        }
        Device (FAN)
        {
            Name (_HID, EisaId ("PNP0C0B"))
            Name (_PR0, Package (1) { BLWR })
        }

        Device (MAIN)
        {
            Name (_HID, "ACPI0003")
            Name (_PCL, Package (1) { \_SB })
            Method (_PSR, 0) { Return (LEqual (And (POWR, 0x80), Zero)) }
        }
        Device (CELL)
        {
            Name (_HID, EisaId ("PNP0C0A"))
            Name (_UID, One)
            Name (_STA, 0x1F)
            Name (_PCL, Package (1) { \_SB })
            /* in mWh and mV; 5000 when full */
            Name (_BIF, Package (13) { 0, 5200, 5000, 1, 3850, 400, 150, 10, 10, "bed", "1", "LION", "Quiesce" })
            Method (_BST, 0)
            {
                Name (SAYS, Package (4) { 0, 800, 0, 3850 })
                If (And (POWR, 0x80)) { Store (One, Index (SAYS, 0)) } Else { Store (2, Index (SAYS, 0)) }
                Store (Multiply (Subtract (100, And (POWR, 0x7F)), 50), Index (SAYS, 2))
                Return (SAYS)
            }
        }
    }

    Scope (\_SB.CPUS.C000)
    {
        Name (_PCT, Package (2)
        {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0xE0) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0xE0) }
        })
        Name (_PPC, Zero)
        Method (_PSS, 0) { Return (\_SB.STEP) }
        Name (_PSD, Package (1) { Package (5) { 5, 0, 0, 0xFC, 1 } })
    }
    Scope (\_SB.CPUS.C001)
    {
        Name (_PCT, Package (2)
        {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0xE1) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0xE1) }
        })
        Name (_PPC, Zero)
        Method (_PSS, 0) { Return (\_SB.STEP) }
        Name (_PSD, Package (1) { Package (5) { 5, 0, 1, 0xFC, 1 } })
    }

    Scope (\_TZ)
    {
        ThermalZone (CPUT)
        {
            Method (_TMP, 0)
            {
                Store (\_SB.DEGC, Local0)
                If (LEqual (Local0, Zero)) { Store (38, Local0) }
                Return (Add (Multiply (Local0, 10), 2732))
            }
            Name (_AC0, 3382)                       /* the fan from 65 degrees */
            Name (_AL0, Package (1) { \_SB.FAN })
            Name (_PSV, 3532)                       /* slower processors from 80 degrees */
            Name (_PSL, Package (2) { \_SB.CPUS.C000, \_SB.CPUS.C001 })
            Name (_TC1, 2)
            Name (_TC2, 5)
            Name (_TSP, 5)                          /* in tenths of a second */
            Name (_TZP, 5)
            Name (_CRT, 3832)
        }
    }
}
