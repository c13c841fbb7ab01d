// What the servers of this bench respond, all alike.

const small = Buffer.from('Hello, world!\n')
const large = Buffer.alloc(2 ** 20, 'x')

let date = new Date().toUTCString()
setInterval(() => {
  date = new Date().toUTCString()
}, 1000).unref()

export function bodyOf(path: string): Buffer {
  return path === '/large' ? large : small
}

export function linesOf(body: Buffer): string {
  return `content-type: text/plain\r\ncontent-length: ${body.length}\r\nDate: ${date}\r\nServer: bench\r\n`
}

export function fieldsOf(body: Buffer): Record<string, string | number> {
  return {
    ':status': 200,
    'content-type': 'text/plain',
    'content-length': body.length,
    date,
    server: 'bench',
  }
}
