/* What the controller tells people: events of the job, for the record and for who watches. Private to device.
 */
#ifndef QS_DEVICE_CONTROL_NEWS_H
#define QS_DEVICE_CONTROL_NEWS_H

#include <stddef.h>
#include <stdint.h>

struct qs_control;
struct qs_msg_waiting;
struct qs_planner_answer;

void qs_control_news_start(struct qs_control *c);
void qs_control_news_push(struct qs_control *c);   /* what the device lacks is known */
void qs_control_news_pushed(struct qs_control *c); /* and is there */
void qs_control_news_pilot(struct qs_control *c, size_t arm, int64_t pilot_ns);
void qs_control_news_evals(struct qs_control *c);
void qs_control_news_plan(struct qs_control *c);
void qs_control_news_planned(struct qs_control *c, const struct qs_planner_answer *answer);
void qs_control_news_announce(struct qs_control *c, int64_t predicted_ns);
/* A command of this machine that the job names has failed: what that means is in daemon/device/README.md. */
void qs_control_news_host(struct qs_control *c, const char *what, const char *name, const char *why);
void qs_control_news_held(struct qs_control *c, const char *why);
void qs_control_news_waiting(struct qs_control *c, const struct qs_msg_waiting *m);
void qs_control_news_gate_timeout(struct qs_control *c);
void qs_control_news_run(struct qs_control *c);
void qs_control_news_repeat(struct qs_control *c, const char *why);
void qs_control_news_block(struct qs_control *c, double half_width);
void qs_control_news_lost(struct qs_control *c, const char *why);
void qs_control_news_back(struct qs_control *c);
void qs_control_news_warning(struct qs_control *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
