package lifecycle

import (
	"fmt"
	"os"
	"syscall"
)

// Order is what init is asked to do with the system.
type Order string

// The orders that the protocol has.
const (
	Poweroff Order = "poweroff"
	Reboot   Order = "reboot"
)

// The signals by which PID 1 is asked, the first with the number of SIGRTMIN as the C library counts it.
const (
	systemdPoweroff = syscall.Signal(34 + 4) // systemd(1): SIGRTMIN+4 starts poweroff.target
	systemdReboot   = syscall.Signal(34 + 5) // systemd(1): SIGRTMIN+5 starts reboot.target
	busyboxPoweroff = syscall.SIGUSR2        // busybox init.c
	busyboxReboot   = syscall.SIGTERM        // busybox init.c
)

// systemdMark is the directory whose existence tells that systemd is PID 1 (sd_booted(3)).
const systemdMark = "/run/systemd/system"

// AskInit asks PID 1 to stop the system, which it does after this has returned.
func AskInit(order Order) error {
	_, err := os.Stat(systemdMark)
	return syscall.Kill(1, signalFor(order, err == nil))
}

// OrderOf is the order that a signal gives to the agent when it is PID 1 itself: the same signals as busybox's init
// has.
func OrderOf(sig syscall.Signal) (Order, error) {
	switch sig {
	case busyboxPoweroff:
		return Poweroff, nil
	case busyboxReboot:
		return Reboot, nil
	default:
		return "", fmt.Errorf("%s is no order", sig)
	}
}

func signalFor(order Order, systemd bool) syscall.Signal {
	switch {
	case systemd && order == Poweroff:
		return systemdPoweroff
	case systemd:
		return systemdReboot
	case order == Poweroff:
		return busyboxPoweroff
	default:
		return busyboxReboot
	}
}
