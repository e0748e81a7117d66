"""A few lines of TAP for the tests that are written in Python."""
import sys


class Tap:
    """Collects cases, prints each as it comes, and ends with the plan. `done()` gives the exit code."""

    def __init__(self, out=sys.stdout):
        self.out, self.count, self.failed = out, 0, 0

    def ok(self, good, name, notes=()):
        """One case. `notes` are printed as comments where it failed."""
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name.replace('#', '')}", file=self.out)
        if not good:
            self.say(notes)

    def equal(self, got, want, name):
        self.ok(got == want, name, [f"got  {got!r}", f"want {want!r}"])

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name.replace('#', '')} # SKIP {reason}", file=self.out)

    def say(self, lines):
        for line in lines:
            print(f"# {line}", file=self.out)

    def done(self):
        print(f"1..{self.count}", file=self.out, flush=True)
        return 1 if self.failed or self.count == 0 else 0
