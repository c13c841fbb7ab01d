// For how long a request may have to wait for a connection: the sum of what it waits for.

import type { OriginConfig, Timeouts } from '../../config/model/config.ts'

/** Ms by which a request should outwait what it waits for, so that those deadlines decide what went wrong. */
const grace = 500

/** Returns for how many ms a request may have to wait until it has a connection or a failure, an upload in two queues; 0 for any number. */
export function longestWait(
  { protocol, transport }: OriginConfig,
  { connect, handshake }: Timeouts,
  isUpload: boolean,
): number {
  const isTls = protocol === 'https'
  const hasQueue = transport.connections > 0
  const queue = hasQueue ? transport.queue.timeout : 0
  const isEndless = connect === 0 || (isTls && handshake === 0) || (queue === 0 && hasQueue)
  return isEndless ? 0 : (isUpload ? 2 * queue : queue) + connect + (isTls ? handshake : 0) + grace
}
