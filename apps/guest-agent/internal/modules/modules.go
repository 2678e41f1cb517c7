// Package modules loads kernel modules from the initramfs: those of every machine, and those for the devices a
// machine has.
package modules

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	directory = "modules"
	// orderFile lists the files of the modules of every machine, in the order to load them.
	orderFile = "order"
	// onDemandFile has a line for each kind of device: a pattern of its modalias, then the files of its modules in
	// the order to load them.
	onDemandFile = "on-demand"

	deviceAliases = "/sys/bus/*/devices/*/modalias"
)

// LoadBase loads the modules of every machine from the initramfs at root. It goes on after an error and returns all.
func LoadBase(root string) []error {
	files, err := readWords(root, orderFile)
	if err != nil {
		return []error{err}
	}
	var failed []error
	for _, line := range files {
		failed = append(failed, loadAll(root, line)...)
	}
	return failed
}

// LoadForDevices loads the modules for the devices that the machine has now. It goes on after an error and returns all.
func LoadForDevices(root string) []error {
	paths, err := filepath.Glob(deviceAliases)
	if err != nil {
		return []error{err}
	}
	var failed []error
	for _, file := range paths {
		alias, err := os.ReadFile(file)
		if err != nil {
			// The device has gone away meanwhile.
			continue
		}
		failed = append(failed, LoadForDevice(root, strings.TrimSpace(string(alias)))...)
	}
	return failed
}

// LoadForDevice loads the modules for the device with that modalias, if there are any. It goes on after an error and
// returns all.
func LoadForDevice(root, alias string) []error {
	lines, err := readWords(root, onDemandFile)
	if err != nil {
		return []error{err}
	}
	var failed []error
	for _, line := range lines {
		if matched, err := path.Match(line[0], alias); err != nil {
			failed = append(failed, fmt.Errorf("the pattern %q: %w", line[0], err))
		} else if matched {
			failed = append(failed, loadAll(root, line[1:])...)
		}
	}
	return failed
}

// readWords returns the words of each line of one of the initramfs's lists. A list that is missing is empty.
func readWords(root, name string) ([][]string, error) {
	content, err := os.ReadFile(filepath.Join(root, directory, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for _, line := range strings.Split(string(content), "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines, nil
}

func loadAll(root string, files []string) []error {
	var failed []error
	for _, name := range files {
		if err := load(filepath.Join(root, directory, name)); err != nil {
			failed = append(failed, fmt.Errorf("load the module %s: %w", name, err))
		}
	}
	return failed
}

// load loads one module; one that is loaded already is no error.
func load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.FinitModule(int(file.Fd()), "", 0); err != nil && err != unix.EEXIST {
		return err
	}
	return nil
}
