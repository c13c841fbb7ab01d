// Asks from another thread, so that what the asking costs is not taken for what the answer does.

import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'

const code = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', async ({ url, method, headers }) => {
    const response = await fetch(url, { method, headers })
    const { length } = await response.text()
    parentPort.postMessage({ status: response.status, length })
  })`

/** Starts a thread and returns what asks in it, one request after the other. */
export function startAsker(t: TestContext, headers: Readonly<Record<string, string>>) {
  const worker = new Worker(code, { eval: true })
  t.after(() => worker.terminate())
  return (url: string, method = 'GET'): Promise<{ readonly status: number; readonly length: number }> =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', answer => {
        worker.off('error', reject)
        resolve(answer)
      })
      worker.postMessage({ url, method, headers })
    })
}
