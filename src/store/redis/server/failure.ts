// Why Redis gave no answer, told apart for the connection, and reduced to what may be repeated.

/** An answer that did not come in time. */
export class Late extends Error {
  readonly code = 'ETIMEDOUT'
}

/** An answer of a server that is a replica, or that another one has replaced. */
export class NotPrimary extends Error {
  readonly code = 'READONLY'
}

/** Rejects a wait that was too long. */
export function tooLate(): never {
  throw new Late()
}

/** Whether a server said so: then it is there. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

/** Whether the server is a replica by now: another one is the primary, and has to be looked for. */
export function isDemoted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('READONLY')
}

/** Whether the keys are at another node of the cluster by now: then nothing was done. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED')
}

/** Keeps of an error what can't hold a secret: servers repeat in their sentences what they were sent, and the driver adds the command. */
export function reasonOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const word = code ?? /^[A-Z]{3,}(?= )/.exec(message)?.[0] ?? 'ECONNRESET'
  return Object.assign(new Error(word), { code: word })
}
