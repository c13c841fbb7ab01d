// What Gatehouse needs of node:http, taken without an import: one reads every name of it, among them WebSocket, and so loads all of undici,
// which costs each process 4 MiB and a tenth of its start.

const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')

export { Agent, createServer, request, STATUS_CODES }
