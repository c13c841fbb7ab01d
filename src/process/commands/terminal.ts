// The output of commands. A reader that has gone is not a failure of theirs.

/** Writes the requested output: stdout. */
export function print(text: string): void {
  write(process.stdout, text)
}

/** Writes a message for the person, with a line feed: stderr. */
export function tell(text: string): void {
  write(process.stderr, `${text}\n`)
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {})
  stream.write(text)
}
