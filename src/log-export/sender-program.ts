// Runs in the thread of the export, until it is told to close.

import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import type { LogExportConfig } from '../config/model/log-export-config.ts'
import type { Destination } from './destination.ts'
import { HttpsReceiver } from './https-receiver.ts'
import { RotatingFile } from './rotating-file.ts'
import { Sender } from './sender.ts'

export interface SenderOptions {
  readonly folder: string
  readonly config: LogExportConfig
}

const port = parentPort!
const sender = new Sender({
  ...(workerData as SenderOptions),
  open,
  report: report => port.postMessage(report),
  clock: systemClock,
})

/** A new configuration, or null to end. */
port.on('message', (config: LogExportConfig | null) => {
  if (config === null) sender.close()
  else sender.reload(config)
})

await sender.run()
port.close()

function open({ destination }: LogExportConfig): Destination {
  return destination.kind === 'file'
    ? new RotatingFile(destination, systemClock.now)
    : new HttpsReceiver(destination, systemClock)
}
