package initramfs

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	newRoot        = "/newroot"
	rootFilesystem = "ext4"
	// deviceTimeout bounds the wait for the root disk. Its driver finds it at once, but an emulated machine on a busy
	// host can need seconds for that.
	deviceTimeout  = 60 * time.Second
	deviceInterval = 10 * time.Millisecond
)

// kernelFilesystems are mounted before all else and move to the root with it.
var kernelFilesystems = []struct{ kind, target string }{
	{"devtmpfs", "/dev"},
	{"proc", "/proc"},
	{"sysfs", "/sys"},
}

func mountKernelFilesystems() error {
	for _, filesystem := range kernelFilesystems {
		if err := os.MkdirAll(filesystem.target, 0o755); err != nil {
			return err
		}
		// A kernel with CONFIG_DEVTMPFS_MOUNT may have been there first.
		if err := unix.Mount(filesystem.kind, filesystem.target, filesystem.kind, 0, ""); err != nil && err != unix.EBUSY {
			return fmt.Errorf("mount %s: %w", filesystem.target, err)
		}
	}
	return nil
}

// openConsole makes the console standard input, output and error, for PID 1 and for the root's init after it.
func openConsole() error {
	console, err := unix.Open("/dev/console", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the console: %w", err)
	}
	for standard := 0; standard <= 2; standard++ {
		if console == standard {
			continue
		}
		if err := unix.Dup3(console, standard, 0); err != nil {
			return fmt.Errorf("use the console: %w", err)
		}
	}
	return nil
}

// enterRoot mounts the file system on device and makes it the root, with the kernel's file systems in it.
func enterRoot(device string) error {
	if err := awaitDevice(device); err != nil {
		return err
	}
	if err := os.MkdirAll(newRoot, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(device, newRoot, rootFilesystem, 0, ""); err != nil {
		return fmt.Errorf("mount %s as %s: %w", device, rootFilesystem, err)
	}
	for _, filesystem := range kernelFilesystems {
		target := filepath.Join(newRoot, filesystem.target)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(filesystem.target, target, "", unix.MS_MOVE, ""); err != nil {
			return fmt.Errorf("move %s into the root: %w", filesystem.target, err)
		}
	}
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	return os.Chdir("/")
}

func awaitDevice(device string) error {
	for end := time.Now().Add(deviceTimeout); ; time.Sleep(deviceInterval) {
		_, err := os.Stat(device)
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the root disk did not appear within %s: %w", deviceTimeout, err)
		}
	}
}
