// What the side port serves beside the management API. One a gateway, in the process of the admin listener.

import type { Logger } from '../../log/log.ts'
import type { Config } from '../../config/config.ts'
import type { Face } from '../../admin/face.ts'
import type { Management } from './management.ts'
import type { Services } from './services.ts'

/** What faces are built from. */
export interface FaceParts {
  readonly config: Config
  readonly services: Services
  readonly management: Management
  /** Returns the URL of the side port; its port is real once it listens. */
  readonly sidePort: () => string
  readonly log: Logger
}

export class Faces {
  /** Of two that take a path, the first has it. */
  readonly all: readonly Face[]

  constructor(_: FaceParts) {
    this.all = []
  }

  /** Finishes what is written behind requests; before the store closes. */
  async close(): Promise<void> {}
}
