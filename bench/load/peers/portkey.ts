// Portkey's gateway as a contestant of the bench; each call names its provider, as its users do with one of their own.
import { join } from 'node:path'
import { PROVIDER_DOOR } from '../call.ts'
import { packageVersion, ROOT } from '../installed.ts'
import type { Peer } from '../peers.ts'

const PACKAGE = join(ROOT, 'node_modules/@portkey-ai/gateway')

export const portkey: Peer = {
  name: 'portkey',
  refusal: 500,
  version: () => packageVersion(PACKAGE),
  prepare: async port => ({
    file: process.execPath,
    args: [join(PACKAGE, 'build/start-server.js'), `--port=${port}`, '--headless'],
  }),
  door: (_printed, origin) => ({
    ...PROVIDER_DOOR,
    fields: {
      ...PROVIDER_DOOR.fields,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${origin}/v1`,
    },
  }),
}
