package lifecycle

import (
	"syscall"
	"testing"
)

func TestTheAgentAsInitObeysTheSignalsItSends(t *testing.T) {
	for _, order := range []Order{Poweroff, Reboot} {
		if got, err := OrderOf(signalFor(order, false)); err != nil || got != order {
			t.Errorf("want %s, got %q (%v)", order, got, err)
		}
	}
	if _, err := OrderOf(syscall.SIGHUP); err == nil {
		t.Error("SIGHUP is taken for an order")
	}
}

func TestSystemdIsAskedByItsOwnSignals(t *testing.T) {
	if signalFor(Poweroff, true) != 38 || signalFor(Reboot, true) != 39 {
		t.Fatalf("got %d and %d", signalFor(Poweroff, true), signalFor(Reboot, true))
	}
}
