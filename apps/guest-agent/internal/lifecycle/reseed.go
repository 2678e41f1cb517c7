package lifecycle

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// hardwareSource is the virtio-rng device, which gives every clone other bytes.
	hardwareSource = "/dev/hwrng"
	// seedBytes is the size of the kernel's own seed (CHACHA_KEY_SIZE).
	seedBytes = 32
	// entropyHeadBytes is the size of struct rand_pool_info before its buffer: two ints.
	entropyHeadBytes = 8
)

// Reseed mixes the given bytes into the kernel's random number generator and makes it use them at once. Without any it
// takes those of the hardware source; without one of those either it leaves the generator as it is, without an error:
// its kernel has its own way (vmgenid), or there is none.
func Reseed(seed []byte) error {
	if len(seed) == 0 {
		hardware, err := readHardwareSeed()
		if err != nil || hardware == nil {
			return err
		}
		seed = hardware
	}
	random, err := openRandom()
	if err != nil {
		return err
	}
	defer unix.Close(random)
	return mix(random, seed)
}

func openRandom() (int, error) {
	random, err := unix.Open("/dev/urandom", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return notOpen, fmt.Errorf("open the random numbers: %w", err)
	}
	return random, nil
}

// mix counts seed as entropy in full, and makes the generator use it now instead of within the next minutes.
func mix(random int, seed []byte) error {
	request := make([]byte, entropyHeadBytes, entropyHeadBytes+len(seed))
	binary.LittleEndian.PutUint32(request[0:], uint32(len(seed)*8))
	binary.LittleEndian.PutUint32(request[4:], uint32(len(seed)))
	request = append(request, seed...)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(random), unix.RNDADDENTROPY, uintptr(unsafe.Pointer(&request[0]))); errno != 0 {
		return fmt.Errorf("RNDADDENTROPY: %w", errno)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(random), unix.RNDRESEEDCRNG, 0); errno != 0 {
		return fmt.Errorf("RNDRESEEDCRNG: %w", errno)
	}
	return nil
}

// readHardwareSeed returns nil without an error when no source answers.
func readHardwareSeed() ([]byte, error) {
	fd, err := unix.Open(hardwareSource, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.ENODEV || err == unix.ENXIO {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", hardwareSource, err)
	}
	defer unix.Close(fd)
	seed := make([]byte, seedBytes)
	n, err := unix.Read(fd, seed)
	// Without a device behind it, or with one that has no bytes just now, the source fails in one of these ways.
	if err == unix.ENODEV || err == unix.EAGAIN || n <= 0 {
		return nil, nil
	}
	return seed[:n], err
}
