// How V8 is to count the memory of this process. Imported first by each entry that serves traffic.

import { setFlagsFromString } from 'node:v8'

// Bodies pass as buffers outside of V8's heap. By its default it answers every few MiB of them with a collection of the whole heap, which costs a third
// of the CPU and ten times the p99 of a large body; counted within the limit of the whole, they are freed with the young generation.
// Asked of the pinned release of Node alone: to the V8 of another the flag may be unknown.
const [major] = process.versions.node.split('.')
if (major === '26') setFlagsFromString('--external-memory-accounted-in-global-limit')
