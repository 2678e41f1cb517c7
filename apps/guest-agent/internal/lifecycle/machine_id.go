package lifecycle

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	machineIDFile = "/etc/machine-id"
	// memoryMachineIDFile takes the place of machineIDFile in a template. systemd does the same with a machine id that
	// shall not outlive the boot (machine-id(5)).
	memoryMachineIDFile = "/run/inquest-machine-id"
	// machineIDMode is what machine-id files have: everybody reads them.
	machineIDMode = 0o444
)

// WriteMachineID makes id, without a newline, the machine id of the system.
func WriteMachineID(id string) error {
	file, err := os.OpenFile(machineIDFile, os.O_WRONLY|os.O_CREATE, machineIDMode)
	if err != nil {
		return err
	}
	defer file.Close()
	content := id + "\n"
	if _, err := file.WriteAt([]byte(content), 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(content)))
}

// KeepMachineIDInMemory mounts a file of memory over the machine id, because a change of the one on the disk takes a
// clone a tenth of its time to become ready. Without a /run in memory, or with a machine id there already, it changes
// nothing.
func KeepMachineIDInMemory() error {
	if isInMemory(machineIDFile) || !isInMemory("/run") {
		return nil
	}
	content, err := os.ReadFile(machineIDFile)
	if os.IsNotExist(err) {
		err = os.WriteFile(machineIDFile, nil, machineIDMode)
	}
	if err != nil {
		return fmt.Errorf("read the machine id: %w", err)
	}
	if err := os.WriteFile(memoryMachineIDFile, content, machineIDMode); err != nil {
		return err
	}
	if err := unix.Mount(memoryMachineIDFile, machineIDFile, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the machine id: %w", err)
	}
	return nil
}

func isInMemory(path string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(path, &stat) == nil && int64(stat.Type) == unix.TMPFS_MAGIC
}
