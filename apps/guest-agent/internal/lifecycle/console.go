package lifecycle

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	consoleLevelFile = "/proc/sys/kernel/printk"
	// consoleLevelAction is SYSLOG_ACTION_CONSOLE_LEVEL of syslog(2).
	consoleLevelAction = 8
	maxConsoleLevel    = 8
)

// ShowOnConsole has the console show kernel messages below a level from 1 to 8, given as a kernel argument has it. "" and
// what is no level change nothing.
func ShowOnConsole(level string) error {
	number, err := strconv.Atoi(level)
	if err != nil || number < 1 || number > maxConsoleLevel {
		return nil
	}
	return setConsoleLevel(number)
}

func consoleLevel() (int, error) {
	levels, err := os.ReadFile(consoleLevelFile)
	if err != nil {
		return 0, err
	}
	// The first of four numbers is the console's (proc(5)).
	first, _, _ := strings.Cut(strings.TrimSpace(string(levels)), "\t")
	level, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("read the level of the console: %w", err)
	}
	return level, nil
}

func setConsoleLevel(level int) error {
	if _, _, errno := unix.Syscall(unix.SYS_SYSLOG, consoleLevelAction, 0, uintptr(level)); errno != 0 {
		return fmt.Errorf("set the level of the console: %w", errno)
	}
	return nil
}
