// Package initramfs is the agent's life as PID 1 of the initramfs: drivers, the root disk, the service process, and
// the root's own init.
package initramfs

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/modules"
)

const (
	// ServiceName is argv[0] of the service process. systemd spares a process whose name begins with '@' when it ends
	// all others (its documentation calls those root storage daemons).
	ServiceName = "@inquest-agent"
	// OldRootDescriptor is the service process's descriptor of the initramfs.
	OldRootDescriptor = 3
	// OldRoot is the path by which the service process reaches the initramfs, and the modules in it.
	OldRoot = "/proc/self/fd/3"

	selfPath = "/proc/self/exe"
	rootInit = "/sbin/init"
)

// Run does the work of PID 1. It does not return: it becomes the root's init, or reaps orphans until it is told to
// stop the system. What makes the machine useless, such as a root disk that is missing, ends PID 1: a kernel panic,
// which the host sees.
func Run() {
	unix.Umask(0o022)
	if err := mountKernelFilesystems(); err != nil {
		fatal(err)
	}
	if err := openConsole(); err != nil {
		fatal(err)
	}
	arguments, err := ReadArguments()
	if err != nil {
		fatal(err)
	}
	loadDrivers()
	configureNetwork(arguments)
	initramfs, err := os.Open("/")
	if err != nil {
		fatal(err)
	}
	if device := arguments[rootArgument]; device != "" {
		if err := enterRoot(device); err != nil {
			fatal(err)
		}
	}
	if err := startService(initramfs); err != nil {
		fatal(err)
	}
	if err := becomeInit(); err != nil {
		fatal(err)
	}
}

// loadDrivers loads the modules that every machine needs and those for the devices that this one has. A module that
// cannot be loaded is reported and does not stop the boot: the machine may do without its device.
func loadDrivers() {
	for _, err := range modules.LoadBase("/") {
		report(err)
	}
	for _, err := range modules.LoadForDevices("/") {
		report(err)
	}
}

func startService(initramfs *os.File) error {
	_, err := syscall.ForkExec(selfPath, []string{ServiceName}, &syscall.ProcAttr{
		Dir:   "/",
		Files: []uintptr{0, 1, 2, initramfs.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start the service process: %w", err)
	}
	return nil
}

// becomeInit hands PID 1 over to the root's init. Without one it returns only with an error.
func becomeInit() error {
	if info, err := os.Stat(rootInit); err != nil || info.IsDir() {
		return reapOrphans()
	}
	err := syscall.Exec(rootInit, []string{rootInit}, []string{"HOME=/", "TERM=linux"})
	return fmt.Errorf("run %s: %w", rootInit, err)
}

func report(err error) { fmt.Fprintf(os.Stderr, "inquest-agent: %v\n", err) }

func fatal(err error) {
	report(err)
	os.Exit(1)
}
