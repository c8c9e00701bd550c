// Package process runs a program of somebody else and ends it for certain: the program and everything that it started.
//
//	home, err := process.NewHome()
//	p, err := process.Start(process.Spec{Command: []string{"agent"}, Dir: home.Work, Env: home.Env(nil), Stdin: true})
//	… read p.Stdout, write p.Stdin …
//	exit := p.Stop(2*time.Second, 3*time.Second) // the tree is gone
//	err = home.Remove()
//
// # What belongs to the tree
//
// Every process of the program's process group, every descendant that is still attached to it, every descendant of such
// a process seen earlier, and, on Linux, every process whose environment holds the random mark that Start put there,
// even after setsid or when its parent has died. Zombies count as gone: they run nothing.
//
// # Limits
//
// A process that leaves the group, has lost its parent and has cleared its environment escapes; only a pid namespace (a
// sandbox around the command) holds that one. Elsewhere than on Linux a process that left the group and lost its parent
// escapes too. On Windows the tree is ended by taskkill and is not verified.
//
// When the harness itself is killed, the program gets SIGKILL on Linux (a parent-death signal, tied to a thread that is
// kept for it), and everywhere end of file on its standard input; what it had started gets the latter only if it reads
// there.
package process
