// Locates a blocked event loop of a worker in its code, by V8's inspector, which still responds.

import type { ChildProcess } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'

/** Arguments of Node that make a process inspectable; its standard error must be a pipe. */
export const inspectable: readonly string[] = ['--inspect-port=127.0.0.1:0', '--inspect-publish-uid=stderr']

export function errorLines({ stderr }: ChildProcess, passed: (line: string) => void): Interface {
  return createInterface({ input: stderr! }).on('line', line => {
    if (!ofInspector.test(line)) passed(line)
  })
}

/** Returns the JavaScript stack, innermost frame first; null if it cannot be had within `timeout` ms. */
export async function blockedStack(
  child: ChildProcess,
  lines: Interface,
  timeout: number,
): Promise<string | null> {
  const late = AbortSignal.timeout(timeout)
  const { promise, resolve } = Promise.withResolvers<string | null>()
  let inspector: WebSocket | null = null
  const listen = (line: string) => {
    const url = listening.exec(line)?.[1]
    if (url !== undefined) inspector = pause(url, resolve)
  }
  lines.on('line', listen)
  late.addEventListener('abort', () => resolve(null))
  child.kill('SIGUSR1')
  const stack = await promise
  lines.off('line', listen)
  ;(inspector as WebSocket | null)?.close()
  return stack
}

function pause(url: string, settle: (stack: string | null) => void): WebSocket {
  const inspector = new WebSocket(url)
  const scripts = new Map<string, string>()
  inspector.onerror = () => settle(null)
  inspector.onopen = () => {
    inspector.send('{"id":1,"method":"Debugger.enable"}')
    inspector.send('{"id":2,"method":"Debugger.pause"}')
  }
  inspector.onmessage = ({ data }) => {
    const { method, params } = JSON.parse(data)
    if (method === 'Debugger.scriptParsed') scripts.set(params.scriptId, params.url)
    if (method === 'Debugger.paused') settle(written(params.callFrames, scripts))
  }
  return inspector
}

interface Frame {
  readonly functionName: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber: number }
}

function written(frames: readonly Frame[], scripts: ReadonlyMap<string, string>): string {
  return frames
    .slice(0, maxFrames)
    .map(({ functionName, location: { scriptId, lineNumber, columnNumber } }) => {
      const place = `${scripts.get(scriptId)}:${lineNumber + 1}:${columnNumber + 1}`
      return `at ${functionName || '<anonymous>'} (${place})`
    })
    .join('\n')
}

const maxFrames = 50
const listening = /^Debugger listening on (ws:\S+)$/
const ofInspector =
  /^(?:Debugger (?:listening on |attached|ending on )|For help, see: |Waiting for the debugger)/
