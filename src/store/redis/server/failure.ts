// Classifies Redis errors for the connection, and reduces them to what may be shown.

/** The reply did not arrive in time. */
export class Late extends Error {
  readonly code = 'ETIMEDOUT'
}

/** The server is a replica, or has been replaced by another one. */
export class NotPrimary extends Error {
  readonly code = 'READONLY'
}

export function tooLate(): never {
  throw new Late()
}

/** Whether the server sent the error, which means that it is reachable. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

/** Whether the server has become a replica, so that the new primary must be found. */
export function isDemoted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('READONLY')
}

/** Whether the user lacks a right. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM')
}

/** Whether the server lacks the command, or has it under another name. */
export function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ERR unknown command')
}

/** Whether the keys have moved to another node of the cluster, so that nothing was done. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED')
}

/**
 * Reduces an error to what cannot contain a secret: servers repeat in their messages what they were sent, and
 * the driver adds the command.
 */
export function reasonOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const word = code ?? /^[A-Z]{3,}(?= )/.exec(message)?.[0] ?? 'ECONNRESET'
  return Object.assign(new Error(word), { code: word })
}
