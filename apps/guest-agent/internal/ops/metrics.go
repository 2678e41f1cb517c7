package ops

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const kibibyte = 1024

type metricsMessage struct {
	Type               string  `json:"type"`
	Load1              float64 `json:"load1"`
	MemoryTotalKib     uint64  `json:"memoryTotalKib"`
	MemoryAvailableKib uint64  `json:"memoryAvailableKib"`
	DiskTotalKib       uint64  `json:"diskTotalKib"`
	DiskFreeKib        uint64  `json:"diskFreeKib"`
	Processes          int     `json:"processes"`
	Execs              int     `json:"execs"`
	CPUBusyTicks       uint64  `json:"cpuBusyTicks"`
	CPUTotalTicks      uint64  `json:"cpuTotalTicks"`
}

func (s *Server) metrics(noProperties) (any, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs("/", &disk); err != nil {
		return nil, failf(codeOpFailed, "statfs of the root: %v", err)
	}
	memory := readMeminfo()
	busy, total := readCPUTicks()
	return metricsMessage{
		Type:               "metrics",
		Load1:              readLoad1(),
		MemoryTotalKib:     memory["MemTotal"],
		MemoryAvailableKib: memory["MemAvailable"],
		DiskTotalKib:       disk.Blocks * uint64(disk.Bsize) / kibibyte,
		DiskFreeKib:        disk.Bavail * uint64(disk.Bsize) / kibibyte,
		Processes:          countProcesses(),
		Execs:              s.execs.count(),
		CPUBusyTicks:       busy,
		CPUTotalTicks:      total,
	}, nil
}

func readLoad1() float64 {
	first, _, _ := strings.Cut(readLine("/proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

// readMeminfo returns the values of /proc/meminfo, in KiB.
func readMeminfo() map[string]uint64 {
	values := make(map[string]uint64)
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return values
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, rest, found := strings.Cut(lines.Text(), ":")
		fields := strings.Fields(rest)
		if !found || len(fields) == 0 {
			continue
		}
		if value, err := strconv.ParseUint(fields[0], 10, 64); err == nil {
			values[name] = value
		}
	}
	return values
}

// readCPUTicks returns the ticks of all processors since boot, from the first line of /proc/stat: user, nice, system,
// idle, iowait, irq, softirq, steal (proc(5)); the guest times after them are counted in user already.
func readCPUTicks() (busy, total uint64) {
	const idle, iowait, accounted = 3, 4, 8
	first, _, _ := strings.Cut(readLine("/proc/stat"), "\n")
	fields := strings.Fields(first)
	if len(fields) < 1+accounted {
		return 0, 0
	}
	for index, field := range fields[1 : 1+accounted] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return 0, 0
		}
		total += ticks
		if index != idle && index != iowait {
			busy += ticks
		}
	}
	return busy, total
}

func countProcesses() int {
	directory, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer directory.Close()
	// A partial listing is as good as the count can be.
	names, _ := directory.Readdirnames(-1)
	count := 0
	for _, name := range names {
		if strings.Trim(name, "0123456789") == "" {
			count++
		}
	}
	return count
}
