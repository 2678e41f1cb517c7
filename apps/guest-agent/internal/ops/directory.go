package ops

import (
	"errors"
	"io"
	"os"
	"path"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// readNames returns at most limit names of a directory, sorted, and whether there are more.
func readNames(path string, limit int) (names []string, more bool, err error) {
	directory, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer directory.Close()
	names, err = directory.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if len(names) > limit {
		names, more = names[:limit], true
	}
	sort.Strings(names)
	return names, more, nil
}

// openDirectory opens the directory name in the directory at, without following a symbolic link. The caller closes it.
func openDirectory(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// errThroughLink says that a path goes through something that is no directory, most likely a symbolic link.
var errThroughLink = errors.New("it goes through a symbolic link or a file")

// openParents opens the directory that holds the relative path name below the directory root, by one step of enter
// for each directory on the way. The caller closes the descriptor.
func openParents(root int, name string, enter func(at int, name string) (int, error)) (int, error) {
	current, err := unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	parent := path.Dir(name)
	if parent == "." {
		return current, nil
	}
	for _, component := range strings.Split(parent, "/") {
		next, err := enter(current, component)
		unix.Close(current)
		if err != nil {
			return -1, err
		}
		current = next
	}
	return current, nil
}

// openBeneath is openDirectory where a symbolic link, also one that appears only now, is errThroughLink.
func openBeneath(at int, name string) (int, error) {
	next, err := openDirectory(at, name)
	if err == unix.ELOOP || err == unix.ENOTDIR {
		return -1, errThroughLink
	}
	return next, err
}

// makeDirectory creates a directory that owner owns. When it exists already the error is EEXIST and nothing is changed.
func makeDirectory(at int, name string, mode uint32, owner *account) error {
	if err := unix.Mkdirat(at, name, mode); err != nil {
		return err
	}
	return chownAt(at, name, owner)
}

// chownAt gives a new file to its owner. New files belong to the agent's own user already.
func chownAt(at int, name string, owner *account) error {
	if owner.uid() == os.Geteuid() && owner.gid() == os.Getegid() {
		return nil
	}
	return unix.Fchownat(at, name, owner.uid(), owner.gid(), unix.AT_SYMLINK_NOFOLLOW)
}

// sortedNames returns the names of an open directory.
func sortedNames(directory *os.File) ([]string, error) {
	names, err := directory.Readdirnames(-1)
	sort.Strings(names)
	return names, err
}
