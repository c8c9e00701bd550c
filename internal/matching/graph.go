package matching

// A graph has n required calls, m calls, and for each two of them whether they fit.
type graph struct {
	n, m int
	fits []bool // n rows of m
}

// match pairs as many required calls as possible with a call of their own, by augmenting paths (Kuhn): for each required
// call its call or -1. Required calls are served in order, take the first call that is free, and are moved only to make
// room. It is tooleval.MaxMatching without the calls of a function, and a step at a time.
func (g *graph) match() []int {
	k := newKuhn(g)
	for i := range g.n {
		k.add(i)
	}
	return k.left
}

// A kuhn is a matching that grows by one required call at a time.
type kuhn struct {
	g           *graph
	left, right []int // the partner of each, or -1
	seen        []int // by call: the last round that visited it
	round       int
	work        int // edges looked at
}

func newKuhn(g *graph) *kuhn {
	buf := make([]int, g.n+2*g.m)
	k := &kuhn{g: g, left: buf[:g.n:g.n], right: buf[g.n : g.n+g.m : g.n+g.m], seen: buf[g.n+g.m:]}
	for i := range k.left {
		k.left[i] = -1
	}
	for j := range k.right {
		k.right[j] = -1
	}
	return k
}

// add finds required call i a partner, moving others where need be, and reports whether there was one.
func (k *kuhn) add(i int) bool {
	k.round++
	return k.augment(i)
}

func (k *kuhn) augment(i int) bool {
	row := k.g.fits[i*k.g.m : (i+1)*k.g.m]
	k.work += len(row)
	for j, fits := range row {
		if fits && k.right[j] < 0 {
			k.left[i], k.right[j] = j, i
			return true
		}
	}
	for j, fits := range row {
		if !fits || k.seen[j] == k.round || k.right[j] == blocked {
			continue
		}
		if k.seen[j] = k.round; k.augment(k.right[j]) {
			k.left[i], k.right[j] = j, i
			return true
		}
	}
	return false
}

// blocked is the partner of a call that must not be used. It is above every index of a required call.
const blocked = int(^uint(0) >> 1)
