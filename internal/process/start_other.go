//go:build !linux

package process

import "os"

func (p *Process) launch() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // the status is in the state
		close(p.exited)
	}()
	return nil
}

func (p *Process) reap() *os.ProcessState { return p.cmd.ProcessState }
