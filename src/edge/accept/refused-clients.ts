// Counts and logs connections that are closed before anything is served.

import type { Socket } from 'node:net'
import { ignoreErrors } from '../../net/socket/closed-socket.ts'
import { reset } from '../../net/socket/reset.ts'
import type { EdgeMetrics, ProxyFailure } from '../../metrics/counters/edge-metrics.ts'
import type { LogThrottle } from '../../log/log-throttle.ts'
import type { RefusedConnection } from './connection-limits.ts'

export class RefusedClients {
  readonly #metrics: EdgeMetrics
  readonly #warnings: LogThrottle

  constructor(metrics: EdgeMetrics, warnings: LogThrottle) {
    this.#metrics = metrics
    this.#warnings = warnings
  }

  /** A reset leaves no state in the system. */
  refuse(socket: Socket, limit: RefusedConnection): void {
    ignoreErrors(socket)
    reset(socket)
    this.count(limit)
  }

  count(limit: RefusedConnection): void {
    this.#metrics.refusedConnections[limit].inc()
    this.#warnings.warn(limit, { limit }, 'client connections refused')
  }

  countEvicted(state: 'silent' | 'idle'): void {
    this.#metrics.evictedConnections[state].inc()
    if (state === 'silent')
      this.#warnings.warn(state, {}, 'client connections without a request closed to make room for others')
  }

  refuseUntrusted(socket: Socket, peer: string): void {
    ignoreErrors(socket)
    reset(socket)
    this.countProxyFailure('untrusted', peer)
  }

  countProxyFailure(reason: ProxyFailure, peer: string): void {
    this.#metrics.proxyFailures[reason].inc()
    // Load balancers check by opening a connection and closing it.
    if (reason !== 'closed')
      this.#warnings.warn(
        `proxy ${reason}`,
        { reason, peer },
        'client connections refused: announced by no trusted PROXY header',
      )
  }
}
