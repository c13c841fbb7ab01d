// Why Redis did not reply, classified for the connection, and reduced to what may be shown.

/** A reply that did not come in time. */
export class Late extends Error {
  readonly code = 'ETIMEDOUT'
}

/** A reply of a server that is a replica, or that another one has replaced. */
export class NotPrimary extends Error {
  readonly code = 'READONLY'
}

/** Rejects a wait that took too long. */
export function tooLate(): never {
  throw new Late()
}

/** Whether the server sent the error: then it is reachable. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

/** Whether the server is a replica by now: another one is the primary, and has to be looked for. */
export function isDemoted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('READONLY')
}

/** Whether the user lacks a right. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM')
}

/** Whether the server has no such command, or has it by another name. */
export function isUnknownCommand(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ERR unknown command')
}

/** Whether the keys have moved to another node of the cluster: then nothing was done. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED')
}

/** Keeps of an error what can't hold a secret: servers repeat in their sentences what they were sent, and the driver adds the command. */
export function reasonOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const word = code ?? /^[A-Z]{3,}(?= )/.exec(message)?.[0] ?? 'ECONNRESET'
  return Object.assign(new Error(word), { code: word })
}
