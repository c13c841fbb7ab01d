// Finds the model of a request that was not parsed.

import { plainModel } from './plain-model.ts'

const longest = 256
/** Where a request usually names it. */
const near = 1024

/** Finds the model in the path (Google, Azure), or else at the beginning of a JSON body; null where neither names one. */
export function requestedModel(path: string, body: Buffer | null): string | null {
  return modelOfPath(path) ?? (body && modelOfBody(body))
}

/** There are few paths: mostly the last one comes again. */
let last: { readonly path: string; readonly model: string | null } = { path: '', model: null }

function modelOfPath(path: string): string | null {
  if (path !== last.path) last = { path, model: pathModel.exec(path)?.[1] ?? null }
  return last.model
}

const pathModel = /\/(?:models|deployments)\/([\w.@~-]{1,256})[:/]/

/** Takes the first member of that name: in the requests of all providers it is at the top level, and no other one of that name is a string. */
function modelOfBody(body: Buffer): string | null {
  return plainModel(body, near) ?? searchedModel(body)
}

function searchedModel(body: Buffer): string | null {
  const text =
    modelIn(body.toString('utf8', 0, near)) ?? (body.length > near ? modelIn(body.toString()) : null)
  if (text === null || !text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return null
  }
}

function modelIn(text: string): string | null {
  const at = text.indexOf('"model"')
  if (at === -1) return null
  model.lastIndex = at
  return model.exec(text)?.[1] ?? null
}

const model = new RegExp(`"model"\\s*:\\s*"((?:[^"\\\\]|\\\\.){1,${longest}})"`, 'y')
