package initramfs

import (
	"fmt"
	"os"
	"strings"
)

// The kernel arguments that the agent knows.
const (
	// rootArgument names the block device of the root file system. Without it the machine stays in the initramfs.
	rootArgument = "inquest.root"
	// hostnameArgument gives the machine its name.
	hostnameArgument = "inquest.hostname"
	// ConsoleLevelArgument is the level of kernel messages on the console from the start of the agent on, which the host
	// wants lower during the boot.
	ConsoleLevelArgument = "inquest.loglevel"
)

// ReadArguments returns the kernel's arguments that have a value; of equal names the last counts.
func ReadArguments() (map[string]string, error) {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return nil, fmt.Errorf("read the kernel arguments: %w", err)
	}
	return parseArguments(string(line)), nil
}

func parseArguments(line string) map[string]string {
	arguments := make(map[string]string)
	for _, word := range strings.Fields(line) {
		if name, value, found := strings.Cut(word, "="); found {
			arguments[name] = value
		}
	}
	return arguments
}
