// How many threads Node may use for blocking name lookups and files. Imported first by each entry point that serves traffic.

// A few names whose servers do not respond would occupy the default 4, and block all other names.
process.env.UV_THREADPOOL_SIZE ??= '16'
