/* libusb as the link sees it, with boards on a bus that a test plugs in and out. It fails where something is
 * used that libusb does not forgive: closed under transfers, freed while busy, let go of too little. */
#ifndef QS_TESTS_UNIT_LINK_USB_FAKE_H
#define QS_TESTS_UNIT_LINK_USB_FAKE_H

#include <libusb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#include "base/buf.h"

enum { FAKE_BOARDS = 8, FAKE_ENDPOINTS = 3, FAKE_CHUNKS = 64 };

struct fake_chunk { /* that a board sends, or how a read of it ends */
    uint8_t bytes[4096];
    int n;
    enum libusb_transfer_status status;
};

struct libusb_device {
    /* what it is */
    bool plugged; /* on the bus; without it, what is open ends with errors */
    uint8_t bus, number, ports[7];
    int port_count;
    uint8_t class, subclass, protocol, interface, configuration;
    uint8_t active; /* configuration */
    int altsettings, configurations;
    struct libusb_endpoint_descriptor endpoints[FAKE_ENDPOINTS];
    uint8_t endpoint_count;
    const char *serial, *product;
    /* how it behaves */
    int open_code, claim_code, config_code;
    enum libusb_transfer_status begin; /* how BEGIN ends */
    bool is_mute;                      /* does not answer BEGIN at all */
    bool keeps_nonce;                  /* takes the session, and does not begin it */
    bool is_full;                      /* takes no bytes */
    int out_errors;                    /* that many writes fail */
    struct fake_chunk chunks[FAKE_CHUNKS];
    int chunk_count, chunk_at;
    /* what was done to it */
    uint8_t setups[8][24]; /* control requests, as they came */
    int setup_count;
    uint8_t nonce[16];
    struct qs_buf got;      /* bytes behind the nonce */
    int outs[4096];         /* lengths of the writes, the nonce's first; negative: a zero packet follows */
    int out_count, submits; /* reads and writes that were begun */
    int resets, opens;
    libusb_device_handle *handle;
    int refs;
};

struct fake {
    struct libusb_device boards[FAKE_BOARDS];
    size_t board_count;
    bool has_udev, keeps_timers, has_no_list;
    int contexts, lists; /* made in all */
    int open_contexts, transfers;
    struct qs_buf log; /* what was done in order, a word each */
};
extern struct fake fake;

void fake_init(void);
void fake_done(void); /* all was given back */
/* At bus 1 behind these ports, with an agent: OUT 0x02, IN 0x81, packets of 512. */
struct libusb_device *fake_board(const char *serial, const uint8_t *ports, int port_count);
void fake_send(struct libusb_device *board, const void *bytes, size_t n);
void fake_fail(struct libusb_device *board, enum libusb_transfer_status status); /* of one read */
void fake_take(struct libusb_device *board); /* one that is full takes the oldest write after all */
void fake_unplug(struct libusb_device *board);
void fake_expire(struct libusb_device *board); /* the time limit of the control request */
void fake_tell(libusb_hotplug_event event);    /* what udev says */
/* For tests in whose middle a thread may read a list. */
void fake_plug(struct libusb_device *board, bool plugged);
void fake_hide_list(bool hidden);
void fake_hold(bool held); /* threads that ask anything */
int fake_lists(void);
int fake_contexts(void);
int fake_pending(const struct libusb_device *board);

#endif
