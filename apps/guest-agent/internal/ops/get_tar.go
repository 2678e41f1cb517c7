package ops

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
)

// maxTreeDepth bounds the directories that are open at once while a tree is sent.
const maxTreeDepth = 200

// treeSender writes the entries of a tree to a tar. It holds a descriptor for each directory it is in, so that a
// guest process that swaps a directory for a symbolic link meanwhile leads it nowhere else.
type treeSender struct {
	archive *tar.Writer
	exclude globs
	buffer  []byte
}

// sendTar sends what is below path, with names relative to it; a path that is no directory is sent as the only entry.
func sendTar(root string, exclude []string, call *call, data *outboundData) error {
	patterns, err := compileGlobs(exclude)
	if err != nil {
		return err
	}
	// Full frames, instead of one for each header and one for each little file.
	buffered := bufio.NewWriterSize(data, frames.MaxDataBytes)
	sender := &treeSender{archive: tar.NewWriter(buffered), exclude: patterns, buffer: make([]byte, copyBytes)}
	var stat unix.Stat_t
	if err := unix.Lstat(root, &stat); err != nil {
		return err
	}
	directory, err := openDirectory(unix.AT_FDCWD, root)
	single := err == unix.ENOTDIR || err == unix.ELOOP
	if err != nil && !single {
		return err
	}
	if err := call.out.WriteControl(okMessage); err != nil {
		return err
	}
	if single {
		err = sender.single(root)
	} else {
		err = sender.directory(directory, "", 0)
	}
	if err == nil {
		err = sender.archive.Close()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// single sends a path that is no directory.
func (t *treeSender) single(file string) error {
	parent, err := unix.Open(filepath.Dir(file), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	return t.entry(parent, path.Base(file), path.Base(file), 0)
}

// directory sends the entries of an open directory and closes it.
func (t *treeSender) directory(fd int, name string, depth int) error {
	directory := os.NewFile(uintptr(fd), name)
	defer directory.Close()
	if depth > maxTreeDepth {
		return failf(codePathIO, "%s is deeper than %d directories", name, maxTreeDepth)
	}
	names, err := sortedNames(directory)
	if err != nil {
		return err
	}
	for _, base := range names {
		relative := path.Join(name, base)
		if t.exclude.match(relative) {
			continue
		}
		if err := t.entry(fd, base, relative, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry sends one entry of a directory. One that has gone away meanwhile is left out, and so are sockets, devices and
// pipes.
func (t *treeSender) entry(parent int, base, name string, depth int) error {
	var stat unix.Stat_t
	err := unix.Fstatat(parent, base, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil {
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			err = t.subdirectory(parent, base, name, &stat, depth)
		case unix.S_IFREG:
			err = t.file(parent, base, name)
		case unix.S_IFLNK:
			err = t.link(parent, base, name, &stat)
		}
	}
	if err == unix.ENOENT {
		return nil
	}
	return pathFailure(name, err)
}

func (t *treeSender) subdirectory(parent int, base, name string, stat *unix.Stat_t, depth int) error {
	fd, err := openDirectory(parent, base)
	if err == unix.ELOOP || err == unix.ENOTDIR {
		// It was replaced after the look at it: like an entry that went away.
		return unix.ENOENT
	}
	if err != nil {
		return err
	}
	header := headerOf(name+"/", tar.TypeDir, stat)
	if err := t.archive.WriteHeader(header); err != nil {
		unix.Close(fd)
		return err
	}
	return t.directory(fd, name, depth+1)
}

func (t *treeSender) link(parent int, base, name string, stat *unix.Stat_t) error {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(parent, base, target)
	if err != nil {
		return err
	}
	header := headerOf(name, tar.TypeSymlink, stat)
	header.Linkname = string(target[:n])
	return t.archive.WriteHeader(header)
}

// file sends as many bytes as the file has when it is opened: a tar announces the size first. One that shrinks
// meanwhile is filled up with zeros, one that grows is cut.
func (t *treeSender) file(parent int, base, name string) error {
	file, stat, err := openRegular(parent, base)
	if err != nil {
		var replaced *failure
		if errors.As(err, &replaced) {
			return unix.ENOENT
		}
		return err
	}
	defer file.Close()
	header := headerOf(name, tar.TypeReg, stat)
	header.Size = stat.Size
	if err := t.archive.WriteHeader(header); err != nil {
		return err
	}
	content := io.LimitReader(io.MultiReader(file, zeros{}), header.Size)
	_, err = io.CopyBuffer(onlyWriter{t.archive}, content, t.buffer)
	return err
}

func headerOf(name string, kind byte, stat *unix.Stat_t) *tar.Header {
	return &tar.Header{
		Format:   tar.FormatPAX,
		Typeflag: kind,
		Name:     name,
		Mode:     int64(stat.Mode & maxSettableMode),
		Uid:      int(stat.Uid),
		Gid:      int(stat.Gid),
		ModTime:  time.Unix(stat.Mtim.Sec, 0),
	}
}

// onlyWriter hides what else a writer can do, so that a copy uses the buffer it is given.
type onlyWriter struct{ io.Writer }

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	for index := range into {
		into[index] = 0
	}
	return len(into), nil
}
