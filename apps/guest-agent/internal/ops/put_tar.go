package ops

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

// tarStore unpacks entries below one directory and never anywhere else.
type tarStore struct {
	root    int
	owner   *account
	buffer  []byte
	entries int
	bytes   int64
}

// storeTar unpacks a tar below dest, which is created when it is missing. An entry that would leave dest, or is a
// device, is refused with its name; the entries before it stay. All files belong to owner, whatever the archive says.
func storeTar(dest string, owner *account, data io.Reader) (entries int, bytes int64, err error) {
	if err := makePath(path.Clean(dest), owner); err != nil {
		return 0, 0, err
	}
	root, err := unix.Open(dest, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(root)
	store := &tarStore{root: root, owner: owner, buffer: make([]byte, copyBytes)}
	archive := tar.NewReader(data)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return store.entries, store.bytes, tarFailure(err)
		}
		if err := store.entry(header, archive); err != nil {
			return store.entries, store.bytes, entryFailure(header.Name, err)
		}
		store.entries++
	}
	// What pads the archive behind its end mark belongs to the stream too.
	_, err = io.CopyBuffer(io.Discard, data, store.buffer)
	return store.entries, store.bytes, err
}

// tarFailure tells a broken archive from a broken stream.
func tarFailure(err error) error {
	var violation *frames.ProtocolError
	if errors.As(err, &violation) {
		return err
	}
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return failf(codeTarInvalid, "the data is no complete tar archive: %v", err)
	}
	return err
}

func entryFailure(name string, err error) error {
	if errors.Is(err, errThroughLink) {
		return refuse(name, errThroughLink.Error())
	}
	return pathFailure(fmt.Sprintf("%.256q", name), tarFailure(err))
}

func refuse(name, reason string) error {
	return failf(codeTarRefused, "the tar entry %.256q is refused: %s", name, reason)
}

func (t *tarStore) entry(header *tar.Header, content io.Reader) error {
	name, err := localName(header.Name)
	if err != nil {
		return err
	}
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if name == "." {
		if header.Typeflag == tar.TypeDir {
			return nil
		}
		return refuse(header.Name, "it names the destination itself")
	}
	parent, err := openParents(t.root, name, t.makeBeneath)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	base := path.Base(name)
	switch header.Typeflag {
	case tar.TypeDir:
		return t.directory(parent, base, header)
	case tar.TypeReg, tar.TypeRegA, tar.TypeGNUSparse:
		return t.file(parent, base, header, content)
	case tar.TypeSymlink:
		return t.symlink(parent, base, header)
	case tar.TypeLink:
		return t.hardLink(parent, base, header)
	default:
		return refuse(header.Name, "it is a device, a pipe or of an unknown type")
	}
}

// localName is the clean relative form of a name, which is refused when it is absolute or has "..".
func localName(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "/") {
		return "", refuse(name, "its name is empty or absolute")
	}
	for _, component := range strings.Split(name, "/") {
		if component == ".." {
			return "", refuse(name, "its name has ..")
		}
	}
	return path.Clean(name), nil
}

// makeBeneath is openBeneath for a directory that may be missing yet.
func (t *tarStore) makeBeneath(at int, name string) (int, error) {
	if err := makeDirectory(at, name, newDirectoryMode, t.owner); err != nil && err != unix.EEXIST {
		return -1, err
	}
	return openBeneath(at, name)
}

func (t *tarStore) directory(parent int, base string, header *tar.Header) error {
	mode := settableMode(header)
	err := makeDirectory(parent, base, mode, t.owner)
	if err != nil && err != unix.EEXIST {
		return err
	}
	directory, err := openBeneath(parent, base)
	if err != nil {
		return err
	}
	defer unix.Close(directory)
	return unix.Fchmod(directory, mode)
}

// file replaces what has the name by a new file, so that neither a symbolic link nor a hard link of the guest is
// written through.
func (t *tarStore) file(parent int, base string, header *tar.Header, content io.Reader) error {
	if err := unlink(parent, base); err != nil {
		return err
	}
	fd, err := unix.Openat(parent, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, newFileMode)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), base)
	written, err := io.CopyBuffer(file, content, t.buffer)
	t.bytes += written
	if err == nil {
		err = dress(file, settableMode(header), t.owner)
	}
	if err == nil {
		err = setModificationTime(fd, header)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// symlink stores a link with whatever target it has: entries that go through it are what is refused.
func (t *tarStore) symlink(parent int, base string, header *tar.Header) error {
	if header.Linkname == "" {
		return refuse(header.Name, "it is a symbolic link to nothing")
	}
	if err := unlink(parent, base); err != nil {
		return err
	}
	if err := unix.Symlinkat(header.Linkname, parent, base); err != nil {
		return err
	}
	return chownAt(parent, base, t.owner)
}

// hardLink links to another file below the destination; the target obeys the rules of a name.
func (t *tarStore) hardLink(parent int, base string, header *tar.Header) error {
	target, err := localName(header.Linkname)
	if err != nil {
		return refuse(header.Name, "it is a hard link out of the destination")
	}
	targetParent, err := openParents(t.root, target, openBeneath)
	if err != nil {
		return err
	}
	defer unix.Close(targetParent)
	if err := unlink(parent, base); err != nil {
		return err
	}
	return unix.Linkat(targetParent, path.Base(target), parent, base, 0)
}

// unlink removes what has the name, if anything. A directory is not removed: EISDIR.
func unlink(parent int, base string) error {
	if err := unix.Unlinkat(parent, base, 0); err != nil && err != unix.ENOENT {
		return err
	}
	return nil
}

func settableMode(header *tar.Header) uint32 {
	return uint32(fs.FileMode(header.Mode) & maxSettableMode)
}

func setModificationTime(fd int, header *tar.Header) error {
	if header.ModTime.IsZero() {
		return nil
	}
	modified := unix.NsecToTimeval(header.ModTime.UnixNano())
	return unix.Futimes(fd, []unix.Timeval{modified, modified})
}
