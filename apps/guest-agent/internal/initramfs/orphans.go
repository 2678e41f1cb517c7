package initramfs

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/lifecycle"
)

// stopGrace is how long processes may take to end by themselves when the system stops: as long as busybox's init
// gives them.
const stopGrace = time.Second

// reapOrphans is the rest of PID 1's life where the root has no init of its own: it reaps, and obeys the signals that
// lifecycle.AskInit sends. It returns only when the kernel refuses to stop the system.
func reapOrphans() error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGUSR2)
	reapAll()
	for received := range signals {
		number, ok := received.(syscall.Signal)
		if !ok || number == syscall.SIGCHLD {
			reapAll()
			continue
		}
		order, err := lifecycle.OrderOf(number)
		if err != nil {
			continue
		}
		return stopSystem(order)
	}
	return nil
}

func reapAll() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != syscall.EINTR && pid <= 0 {
			return
		}
	}
}

// stopSystem ends all processes, makes the disk consistent and stops the machine. Its words are those of busybox's
// init.
func stopSystem(order lifecycle.Order) error {
	fmt.Println("The system is going down NOW!")
	// With no process left to signal there is an error, which is fine.
	_ = syscall.Kill(-1, syscall.SIGTERM)
	time.Sleep(stopGrace)
	_ = syscall.Kill(-1, syscall.SIGKILL)
	unix.Sync()
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		report(fmt.Errorf("remount the root read-only: %w", err))
	}
	fmt.Printf("Requesting system %s\n", order)
	command := unix.LINUX_REBOOT_CMD_RESTART
	if order == lifecycle.Poweroff {
		command = unix.LINUX_REBOOT_CMD_POWER_OFF
	}
	return unix.Reboot(command)
}
