// What commands say to the person at the terminal. That nobody listens any more is no failure of theirs.

/** Writes what was asked for: stdout. */
export function print(text: string): void {
  write(process.stdout, text)
}

/** Writes what a person should know beside it, a line feed added: stderr. */
export function tell(text: string): void {
  write(process.stderr, `${text}\n`)
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {})
  stream.write(text)
}
