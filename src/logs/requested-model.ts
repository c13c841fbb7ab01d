// The model that a request which nobody parsed asked for. Called by entry.ts.

const LONGEST = 256
const SEARCHED = 64 * 1024

/** Finds the model in the path (Google, Azure), else in the beginning of a JSON body; null where neither names one. */
export function requestedModel(path: string, body: string): string | null {
  return modelOfPath(path) ?? modelOfBody(body)
}

function modelOfPath(path: string): string | null {
  return PATH_MODEL.exec(path)?.[1] ?? null
}

const PATH_MODEL = /\/(?:models|deployments)\/([\w.@~-]{1,256})[:/]/

/** Takes the first member of that name: in the requests of all providers it stands at the top, and no other one has a string for it. */
function modelOfBody(body: string): string | null {
  const at = body.indexOf('"model"')
  if (at === -1 || at > SEARCHED) return null
  MODEL.lastIndex = at
  const text = MODEL.exec(body)?.[1]
  if (text === undefined || !text.includes('\\')) return text ?? null
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return null
  }
}

const MODEL = new RegExp(`"model"\\s*:\\s*"((?:[^"\\\\]|\\\\.){1,${LONGEST}})"`, 'y')
