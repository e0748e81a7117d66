/* The gadget: configfs and FunctionFS. */
#include "linux/usb.h"

#include "core/print.h"
#include "linux/io.h"
#include "proto/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIGFS    "/sys/kernel/config"
#define GADGETS     CONFIGFS "/usb_gadget"
#define CONTROLLERS "/sys/class/udc"

enum { PATH_BYTES = 192, HOLDER_BYTES = 128 };

static bool fail(char *error, const char *what, const char *path)
{
    bool rights = errno == EACCES || errno == EPERM;
    qs_print(error, QS_LINK_ERROR_BYTES, "cannot %s %.120s: %s%s", what, path, strerror(errno),
             rights ? "; --usb needs the rights of root" : "");
    return false;
}

static bool write_all(int fd, const void *bytes, size_t n)
{
    return write(fd, bytes, n) == (ssize_t)n;
}

static bool put(int dir_fd, const char *name, const char *text)
{
    int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, text, strlen(text));
    qs_io_close(&fd);
    return ok;
}

/* --- who has which controller ------------------------------------------------------------------------------
 */

/* "gadget 'g1'", or "" where nobody has it. */
static void find_holder(const char *controller, char holder[HOLDER_BYTES])
{
    struct qs_dir gadgets;
    char path[PATH_BYTES], text[64];
    const char *name;
    holder[0] = '\0';
    qs_print(path, sizeof path, CONTROLLERS "/%.60s/function", controller);
    if (qs_io_line(path, text, sizeof text)) {
        qs_print(holder, HOLDER_BYTES, "the driver '%s'", text);
    }
    if (!qs_dir_open(&gadgets, GADGETS)) {
        return;
    }
    while ((name = qs_dir_next(&gadgets))) {
        qs_print(path, sizeof path, GADGETS "/%.80s/UDC", name);
        if (qs_io_line(path, text, sizeof text) && strcmp(text, controller) == 0) {
            qs_print(holder, HOLDER_BYTES, "the gadget '%.40s'; free it with: echo > %s", name, path);
        }
    }
    qs_dir_close(&gadgets);
}

/* The first free one by its name, or the one that is wanted. */
static bool choose(struct qs_usb *usb, const char *wanted, char *error)
{
    struct qs_dir all;
    char holder[HOLDER_BYTES], taken[HOLDER_BYTES] = "", there[128] = "";
    const char *name;
    usb->controller[0] = '\0';
    bool any = qs_dir_open(&all, CONTROLLERS);
    while (any && (name = qs_dir_next(&all))) {
        if (name[0] == '.') {
            continue;
        }
        qs_io_append(there, sizeof there, there[0] ? ", " : "");
        qs_io_append(there, sizeof there, name);
        if (wanted && strcmp(name, wanted) != 0) {
            continue;
        }
        find_holder(name, holder);
        if (holder[0]) {
            qs_print(taken, sizeof taken, "%s", holder);
        } else if (strlen(name) < sizeof usb->controller &&
                   (usb->controller[0] == '\0' || strcmp(name, usb->controller) < 0)) {
            qs_print(usb->controller, sizeof usb->controller, "%s", name);
        }
    }
    if (any) {
        qs_dir_close(&all);
    }
    if (usb->controller[0]) {
        return true;
    }
    if (there[0] == '\0') {
        qs_print(error, QS_LINK_ERROR_BYTES,
                 "this kernel has no USB device controller (nothing is in " CONTROLLERS
                 "): the port must be one that can be a device, and its driver loaded");
    } else if (taken[0]) {
        qs_print(error, QS_LINK_ERROR_BYTES, "%s is taken by %s", wanted ? wanted : there, taken);
    } else {
        qs_print(error, QS_LINK_ERROR_BYTES, "there is no USB device controller '%.60s'; there are: %s",
                 wanted ? wanted : "", there);
    }
    return false;
}

/* --- taking down -------------------------------------------------------------------------------------------
 */

static void function_of(const char *controller, const char *folder, char path[PATH_BYTES])
{
    qs_print(path, PATH_BYTES, "%sffs.%s", folder, controller);
}

static void mount_of(const char *controller, char path[PATH_BYTES])
{
    qs_print(path, PATH_BYTES, "/dev/quiesce-%s", controller);
}

/* In the kernel's order: what is used goes after its user. What is not there is not missed. */
static void take_down(int gadget_fd, const char *controller)
{
    char path[PATH_BYTES];
    (void)put(gadget_fd, "UDC", "\n");
    mount_of(controller, path);
    while (umount2(path, MNT_DETACH) == 0) {
    }
    rmdir(path);
    function_of(controller, "configs/c.1/", path);
    unlinkat(gadget_fd, path, 0);
    unlinkat(gadget_fd, "configs/c.1", AT_REMOVEDIR);
    function_of(controller, "functions/", path);
    unlinkat(gadget_fd, path, AT_REMOVEDIR);
    unlinkat(gadget_fd, "strings/0x409", AT_REMOVEDIR);
    qs_print(path, sizeof path, GADGETS "/quiesce-%s", controller);
    rmdir(path);
}

/* One with our name may still be a person's: then it has functions that we do not make. */
static bool has_ours_alone(int gadget_fd, const char *controller)
{
    struct qs_dir functions;
    char own[PATH_BYTES];
    const char *name;
    bool ours = qs_dir_open_at(&functions, gadget_fd, "functions");
    function_of(controller, "", own);
    while (ours && (name = qs_dir_next(&functions))) {
        ours = name[0] == '.' || strcmp(name, own) == 0;
    }
    if (functions.fd >= 0) {
        qs_dir_close(&functions);
    }
    return ours;
}

/* What killed agents have left; a gadget whose agent lives is locked. */
static void sweep(void)
{
    struct qs_dir gadgets;
    const char *name;
    if (!qs_dir_open(&gadgets, GADGETS)) {
        return;
    }
    while ((name = qs_dir_next(&gadgets))) {
        const char *controller = qs_usb_controller_of(name);
        int fd = controller ? openat(gadgets.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && has_ours_alone(fd, controller)) {
            take_down(fd, controller);
        }
        qs_io_close(&fd);
    }
    qs_dir_close(&gadgets);
}

/* --- making ------------------------------------------------------------------------------------------------
 */

static bool find_configfs(char *error)
{
    if (access(GADGETS, F_OK) == 0) {
        return true;
    }
    if (mount("none", CONFIGFS, "configfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0 && errno != EBUSY) {
        return fail(error, "mount configfs (CONFIG_CONFIGFS_FS, module configfs) on", CONFIGFS);
    }
    return access(GADGETS, F_OK) == 0 ||
           fail(error, "make USB gadgets (CONFIG_USB_CONFIGFS; try modprobe libcomposite): there is no",
                GADGETS);
}

/* The board's own number; else one that tells no more of the machine's id than that it is the same. */
static void default_serial(char *serial, size_t cap)
{
    char id[128];
    uint8_t sum[QS_SHA256_BYTES];
    if (qs_io_line("/proc/device-tree/serial-number", serial, cap) && qs_usb_is_serial(serial)) {
        return;
    }
    if (!qs_io_line("/etc/machine-id", id, sizeof id)) {
        qs_print(serial, cap, "unnamed");
        return;
    }
    qs_io_append(id, sizeof id, " as the serial number of quiesce-agent");
    qs_sha256(id, strlen(id), sum);
    for (size_t i = 0; i < 8; i++) {
        qs_print(serial + 2 * i, 3, "%02x", sum[i]);
    }
}

static bool describe(const struct qs_usb *usb, const char *id)
{
    char vendor[8], product[8], model[QS_USB_TEXT_BYTES];
    id = id ? id : "1d6b:0104";
    qs_print(vendor, sizeof vendor, "0x%.4s", id);
    qs_print(product, sizeof product, "0x%.4s", id + 5);
    if (!qs_io_line("/proc/device-tree/model", model, sizeof model) &&
        !qs_io_line("/sys/class/dmi/id/product_name", model, sizeof model)) {
        qs_print(model, sizeof model, "device");
    }
    qs_io_printable(model);
    return put(usb->gadget_fd, "idVendor", vendor) && put(usb->gadget_fd, "idProduct", product) &&
           mkdirat(usb->gadget_fd, "strings/0x409", 0755) == 0 &&
           put(usb->gadget_fd, "strings/0x409/serialnumber", usb->serial) &&
           put(usb->gadget_fd, "strings/0x409/product", model) &&
           put(usb->gadget_fd, "strings/0x409/manufacturer", "Quiesce");
}

static int open_at(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static bool open_endpoints(struct qs_usb *usb, const char *path)
{
    int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    usb->ep0 = dir_fd >= 0 ? open_at(dir_fd, "ep0") : -1;
    bool ok = usb->ep0 >= 0 && write_all(usb->ep0, qs_usb_descriptors, sizeof qs_usb_descriptors) &&
              write_all(usb->ep0, qs_usb_strings, sizeof qs_usb_strings);
    usb->in = ok ? open_at(dir_fd, "ep1") : -1; /* they are there only now */
    usb->out = ok ? open_at(dir_fd, "ep2") : -1;
    qs_io_close(&dir_fd);
    return usb->in >= 0 && usb->out >= 0;
}

static bool make_function(struct qs_usb *usb, const char *gadget, char *error)
{
    char inside[PATH_BYTES], path[PATH_BYTES], where[PATH_BYTES];
    function_of(usb->controller, "functions/", inside);
    if (mkdirat(usb->gadget_fd, inside, 0755) != 0) {
        return fail(error, "make a FunctionFS (CONFIG_USB_CONFIGFS_F_FS; try modprobe usb_f_fs):", inside);
    }
    function_of(usb->controller, "configs/c.1/", path);
    qs_print(where, sizeof where, "%s/%s", gadget, inside);
    if (mkdirat(usb->gadget_fd, "configs/c.1", 0755) != 0 || symlinkat(where, usb->gadget_fd, path) != 0) {
        return fail(error, "set up the gadget's configuration:", path);
    }
    mount_of(usb->controller, path);
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) ||
        mount(usb->controller, path, "functionfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        return fail(error, "mount FunctionFS on", path);
    }
    return open_endpoints(usb, path) || fail(error, "open the endpoints of FunctionFS in", path);
}

static bool make(struct qs_usb *usb, const struct qs_usb_options *options, char *error)
{
    char gadget[PATH_BYTES], holder[HOLDER_BYTES];
    qs_print(gadget, sizeof gadget, GADGETS "/quiesce-%s", usb->controller);
    if (mkdir(gadget, 0755) != 0) {
        return fail(error, "make the USB gadget", gadget);
    }
    usb->gadget_fd = open(gadget, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (usb->gadget_fd < 0 || flock(usb->gadget_fd, LOCK_EX | LOCK_NB) != 0 || !describe(usb, options->id)) {
        return fail(error, "describe the USB gadget", gadget);
    }
    if (!make_function(usb, gadget, error)) {
        return false;
    }
    if (!put(usb->gadget_fd, "UDC", usb->controller)) {
        fail(error, "take the USB device controller", usb->controller);
        find_holder(usb->controller, holder);
        qs_io_append(error, QS_LINK_ERROR_BYTES, holder[0] ? "; it belongs to " : "");
        qs_io_append(error, QS_LINK_ERROR_BYTES, holder);
        return false;
    }
    return true;
}

bool qs_usb_open(struct qs_usb *usb, const struct qs_usb_options *options, char error[QS_LINK_ERROR_BYTES])
{
    usb->gadget_fd = usb->ep0 = usb->in = usb->out = -1;
    if (options->serial) {
        qs_print(usb->serial, sizeof usb->serial, "%s", options->serial);
    } else {
        default_serial(usb->serial, sizeof usb->serial);
    }
    if (access(CONTROLLERS, F_OK) == 0 && !find_configfs(error)) {
        return false;
    }
    sweep(); /* first: it may have the controller that is wanted */
    if (!choose(usb, options->controller, error)) {
        return false;
    }
    if (make(usb, options, error)) {
        return true;
    }
    if (usb->gadget_fd >= 0) {
        qs_usb_close(usb);
    }
    return false;
}

void qs_usb_forget(struct qs_usb *usb)
{
    qs_io_close(&usb->in);
    qs_io_close(&usb->out);
    qs_io_close(&usb->ep0);
    qs_io_close(&usb->gadget_fd);
}

void qs_usb_close(struct qs_usb *usb)
{
    take_down(usb->gadget_fd, usb->controller);
    qs_usb_forget(usb);
}
