// Sizes Node's thread pool. Each entry point that serves traffic imports this file first.

// A few names whose servers do not respond would occupy the default 4, and block all other names.
process.env.UV_THREADPOOL_SIZE ??= '16'
