// How V8 counts the memory of this process. Imported first by each entry point that serves traffic.

import { setFlagsFromString } from 'node:v8'

// Bodies are buffers outside of V8's heap. By default V8 responds to every few MiB of them with a full garbage collection, which costs a third
// of the CPU and ten times the p99 of a large body; counted against the total limit, they are freed with the young generation.
// Only for the pinned release of Node: the V8 of another may not know the flag.
const [major] = process.versions.node.split('.')
if (major === '26') setFlagsFromString('--external-memory-accounted-in-global-limit')
