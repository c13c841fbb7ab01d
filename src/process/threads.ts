// How many threads Node may block on the system's name lookups and files. Imported first by each entry that serves traffic, before any of them begins.

// The usual 4 are all taken by a few names whose servers don't answer, and every other name would wait for them.
process.env.UV_THREADPOOL_SIZE ??= '16'
