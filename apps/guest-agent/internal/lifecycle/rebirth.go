package lifecycle

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	machineIDFile = "/etc/machine-id"
	// memoryMachineIDFile takes the place of machineIDFile in a template. systemd does the same with a machine id that
	// shall not outlive the boot (machine-id(5)).
	memoryMachineIDFile = "/run/inquest-machine-id"
	// machineIDMode is what machine-id files have: everybody reads them.
	machineIDMode = 0o444

	// quietConsoleLevel keeps warnings and worse (include/linux/kern_levels.h): the kernel greets its new life with a
	// notice, and an emulated console is slow.
	quietConsoleLevel = 5
	notOpen           = -1
)

// Rebirth gives a clone its own identity. Whoever starts a clone waits for that, and under emulation each path that is
// looked up and each new block of a disk costs it milliseconds, so all that can be is prepared before the template is
// taken.
type Rebirth struct {
	mutex        sync.Mutex
	random       int
	machineID    int
	consoleLevel int
}

// NewRebirth returns a Rebirth that nothing is prepared for.
func NewRebirth() *Rebirth {
	return &Rebirth{random: notOpen, machineID: notOpen, consoleLevel: notOpen}
}

// Prepare makes the system ready to be taken as a template. A rebirth without it, or after an error of it, is slower and
// as good. It may be repeated: a template may be taken of a clone.
func (r *Rebirth) Prepare() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.quietConsole(); err != nil {
		return err
	}
	if r.random == notOpen {
		random, err := openRandom()
		if err != nil {
			return err
		}
		r.random = random
	}
	if r.machineID != notOpen {
		return nil
	}
	return r.keepMachineIDInMemory()
}

// Become makes the system another one: its random numbers first, so that nothing is made of the old ones any more.
func (r *Rebirth) Become(entropy []byte, hostname, machineID string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.reseed(entropy); err != nil {
		return fmt.Errorf("reseed the random numbers: %w", err)
	}
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := r.writeMachineID(machineID + "\n"); err != nil {
		return fmt.Errorf("set the machine id: %w", err)
	}
	return r.restoreConsole()
}

func (r *Rebirth) reseed(entropy []byte) error {
	if r.random == notOpen {
		return Reseed(entropy)
	}
	return mix(r.random, entropy)
}

func (r *Rebirth) writeMachineID(content string) error {
	if r.machineID != notOpen {
		_, err := unix.Pwrite(r.machineID, []byte(content), 0)
		return err
	}
	return os.WriteFile(machineIDFile, []byte(content), machineIDMode)
}

// keepMachineIDInMemory mounts a file of memory over the machine id and keeps it open. Without a /run in memory it changes
// nothing: an open file of the root would keep init from making the root read-only.
func (r *Rebirth) keepMachineIDInMemory() error {
	if !isInMemory("/run") {
		return nil
	}
	// Of the length that it will have, so that a rebirth only overwrites.
	content := strings.Repeat("0", 32) + "\n"
	if err := os.WriteFile(memoryMachineIDFile, []byte(content), machineIDMode); err != nil {
		return err
	}
	if _, err := os.Stat(machineIDFile); os.IsNotExist(err) {
		if err := os.WriteFile(machineIDFile, nil, machineIDMode); err != nil {
			return err
		}
	}
	if err := unix.Mount(memoryMachineIDFile, machineIDFile, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the machine id: %w", err)
	}
	file, err := unix.Open(memoryMachineIDFile, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the machine id: %w", err)
	}
	r.machineID = file
	return nil
}

func (r *Rebirth) quietConsole() error {
	level, err := consoleLevel()
	if err != nil {
		return err
	}
	if level <= quietConsoleLevel {
		return nil
	}
	r.consoleLevel = level
	return setConsoleLevel(quietConsoleLevel)
}

func (r *Rebirth) restoreConsole() error {
	if r.consoleLevel == notOpen {
		return nil
	}
	return setConsoleLevel(r.consoleLevel)
}

func isInMemory(path string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(path, &stat) == nil && int64(stat.Type) == unix.TMPFS_MAGIC
}
