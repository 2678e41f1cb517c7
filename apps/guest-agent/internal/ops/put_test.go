package ops

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"inquest.dev/guest-agent/internal/frames"
)

type entry struct {
	name    string
	kind    byte
	link    string
	content string
	mode    int64
}

func packTar(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, entry := range entries {
		header := &tar.Header{
			Name:     entry.name,
			Typeflag: entry.kind,
			Linkname: entry.link,
			Size:     int64(len(entry.content)),
			Mode:     entry.mode,
			ModTime:  time.Unix(1_000_000_000, 0),
			Uid:      4242,
			Gid:      4242,
		}
		if header.Mode == 0 {
			header.Mode = 0o644
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, entry.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func putTar(t *testing.T, dest string, entries ...entry) *host {
	t.Helper()
	client := request(t, message{"op": "put", "dest": dest, "kind": "tar"})
	client.data(packTar(t, entries...))
	return client
}

func TestPutStoresAFileWithItsModeAndItsMissingParents(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "a", "b", "file")
	client := request(t, message{"op": "put", "dest": dest, "kind": "file", "mode": "0750"})
	client.data(bytes.Repeat([]byte("x"), 1<<20))
	if answer := client.answer("ok"); answer["entries"] != 1.0 || answer["bytes"] != float64(1<<20) {
		t.Fatalf("got %v", answer)
	}
	info, err := os.Stat(dest)
	if err != nil || info.Size() != 1<<20 || info.Mode() != 0o750 {
		t.Fatalf("got %v (%v)", info, err)
	}
}

func TestPutReplacesASymbolicLinkAndNotWhatItPointsTo(t *testing.T) {
	directory := t.TempDir()
	write(t, directory+"/target", "old")
	if err := os.Symlink("target", directory+"/link"); err != nil {
		t.Fatal(err)
	}
	client := request(t, message{"op": "put", "dest": directory + "/link", "kind": "file"})
	client.data([]byte("new"))
	client.answer("ok")
	if content(t, directory+"/target") != "old" || content(t, directory+"/link") != "new" {
		t.Fatal("the file behind the link was written")
	}
}

func TestAPutThatIsCutOffLeavesNothing(t *testing.T) {
	directory := t.TempDir()
	write(t, directory+"/file", "old")
	client := request(t, message{"op": "put", "dest": directory + "/file", "kind": "file"})
	if err := client.out.WriteData(frames.KindDataToGuest, []byte("half")); err != nil {
		t.Fatal(err)
	}
	client.close()
	client.awaitServed()
	if found := names(t, directory); len(found) != 1 || content(t, directory+"/file") != "old" {
		t.Fatalf("got %v", found)
	}
}

func TestPutUnpacksATar(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "dest")
	client := putTar(t, dest,
		entry{name: "./", kind: tar.TypeDir, mode: 0o700},
		entry{name: "bin/", kind: tar.TypeDir, mode: 0o750},
		entry{name: "bin/tool", kind: tar.TypeReg, content: "#!/bin/sh\n", mode: 0o4755},
		entry{name: "deep/er/file", kind: tar.TypeReg, content: "text"},
		entry{name: "link", kind: tar.TypeSymlink, link: "bin/tool"},
		entry{name: "hard", kind: tar.TypeLink, link: "deep/er/file"},
	)
	if answer := client.answer("ok"); answer["entries"] != 6.0 || answer["bytes"] != 14.0 {
		t.Fatalf("got %v", answer)
	}
	info, err := os.Stat(dest + "/bin/tool")
	if err != nil || info.Mode() != 0o755 || !info.ModTime().Equal(time.Unix(1_000_000_000, 0)) {
		t.Fatalf("got %v (%v); setuid must not survive", info, err)
	}
	if target, err := os.Readlink(dest + "/link"); err != nil || target != "bin/tool" {
		t.Fatalf("got %q (%v)", target, err)
	}
	if content(t, dest+"/hard") != "text" {
		t.Fatal("the hard link has other content")
	}
	if system := info.Sys().(*syscall.Stat_t); int(system.Uid) != os.Geteuid() {
		t.Fatalf("the owner is %d, as the archive says", system.Uid)
	}
}

func TestTarEntriesThatWouldLeaveTheDestinationAreRefusedByName(t *testing.T) {
	for name, refused := range map[string][]entry{
		"absolute":            {{name: "/etc/evil", kind: tar.TypeReg, content: "x"}},
		"dot dot":             {{name: "a/../../evil", kind: tar.TypeReg, content: "x"}},
		"the destination":     {{name: ".", kind: tar.TypeSymlink, link: "/evil"}},
		"a device":            {{name: "evil", kind: tar.TypeChar}},
		"a pipe":              {{name: "evil", kind: tar.TypeFifo}},
		"a link to outside":   {{name: "evil", kind: tar.TypeLink, link: "../outside"}},
		"an absolute link":    {{name: "evil", kind: tar.TypeLink, link: "/outside"}},
		"through its own":     {{name: "up", kind: tar.TypeSymlink, link: ".."}, {name: "up/evil", kind: tar.TypeReg, content: "x"}},
		"through an old one":  {{name: "old/evil", kind: tar.TypeReg, content: "x"}},
		"deeper through it":   {{name: "old/evil/deep/er", kind: tar.TypeReg, content: "x"}},
		"as a directory":      {{name: "old/", kind: tar.TypeDir, mode: 0o777}},
		"a link's own parent": {{name: "evil", kind: tar.TypeLink, link: "old/victim"}},
		"directory by link":   {{name: "up", kind: tar.TypeSymlink, link: ".."}, {name: "up/evil/", kind: tar.TypeDir}},
	} {
		t.Run(name, func(t *testing.T) {
			outside := t.TempDir()
			write(t, outside+"/victim", "untouched")
			dest := filepath.Join(outside, "dest")
			if err := os.Mkdir(dest, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("..", dest+"/old"); err != nil {
				t.Fatal(err)
			}
			entries := append([]entry{{name: "before", kind: tar.TypeReg, content: "stays"}}, refused...)
			text := putTar(t, dest, append(entries, entry{name: "after", kind: tar.TypeReg})...).refused(codeTarRefused)
			if last := refused[len(refused)-1].name; !strings.Contains(text, last) {
				t.Fatalf("the message does not name %q: %s", last, text)
			}
			if found := names(t, outside); len(found) != 2 || content(t, outside+"/victim") != "untouched" {
				t.Fatalf("something was written outside: %v", found)
			}
			if info, err := os.Stat(outside); err != nil || info.Mode().Perm() == 0o777 {
				t.Fatalf("the mode of the directory outside was changed: %v", info.Mode())
			}
			if content(t, dest+"/before") != "stays" {
				t.Fatal("the entry before is gone")
			}
			if _, err := os.Lstat(dest + "/after"); err == nil {
				t.Fatal("the entry after the refused one was stored")
			}
		})
	}
}

func TestATarEntryReplacesASymbolicLinkAndNotItsTarget(t *testing.T) {
	dest := t.TempDir()
	write(t, dest+"/target", "old")
	if err := os.Symlink("target", dest+"/file"); err != nil {
		t.Fatal(err)
	}
	putTar(t, dest, entry{name: "file", kind: tar.TypeReg, content: "new"}).answer("ok")
	if content(t, dest+"/target") != "old" || content(t, dest+"/file") != "new" {
		t.Fatal("the file behind the link was written")
	}
}

func TestDataThatIsNoTarOrOnlyHalfOfOneIsAnError(t *testing.T) {
	whole := packTar(t, entry{name: "file", kind: tar.TypeReg, content: strings.Repeat("x", 5000)})
	for _, data := range [][]byte{bytes.Repeat([]byte("no tar "), 1000), whole[:2000]} {
		client := request(t, message{"op": "put", "dest": t.TempDir(), "kind": "tar"})
		client.data(data)
		client.refused(codeTarInvalid)
	}
}
