package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// KillSession sends SIGKILL to every process of the session of child, in whichever group it is: a shell with a terminal
// gives each of its jobs a group of its own. It returns how many there were. One that forks meanwhile may leave more.
func KillSession(child *Child) int {
	found := 0
	for _, pid := range sessionMembers(child.Pid) {
		found++
		// One that has ended since is no error.
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return found
}

// AwaitSessionGone kills until no process is left in the session of child, at most for limit, and reports whether that
// is so.
func (r *Reaper) AwaitSessionGone(child *Child, limit time.Duration) bool {
	return r.awaitGone(func() bool { return KillSession(child) == 0 }, limit)
}

// sessionMembers returns the live processes of a session. Only /proc knows them.
func sessionMembers(session int) []int {
	directory, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer directory.Close()
	names, err := directory.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var members []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && isLiveMember(pid, session) {
			members = append(members, pid)
		}
	}
	return members
}

// isLiveMember reads proc(5)'s stat: "pid (name) state ppid pgrp session ...", where the name may hold anything.
func isLiveMember(pid, session int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || string(fields[3]) != strconv.Itoa(session) {
		return false
	}
	state := fields[0][0]
	return state != 'Z' && state != 'X'
}
