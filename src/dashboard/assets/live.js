// Refreshes the parts of a page with an id and `data-live`, in seconds, while it is in use.

const patience = 15 * 60_000

let seen = Date.now()
for (const kind of ['pointerdown', 'keydown', 'visibilitychange'])
  document.addEventListener(kind, () => {
    seen = Date.now()
  })

wait()

/** Waits as long as the part that changes most often, and no more once none is left. */
function wait() {
  const parts = [...document.querySelectorAll('[data-live]')]
  const seconds = Math.min(...parts.map(part => Number(part.getAttribute('data-live'))))
  if (parts.length > 0) setTimeout(refresh, seconds * 1000)
}

async function refresh() {
  const isWatched = !document.hidden && Date.now() - seen < patience
  const goesOn = isWatched ? await swapAll() : true
  if (goesOn) wait()
}

/** Returns whether to go on: not once the page is another one, as when the session has ended. */
async function swapAll() {
  const response = await fetch(location.href, { redirect: 'error' }).catch(() => null)
  if (response === null) return true
  if (!response.ok) return response.status >= 500
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id)
    if (fresh !== null && !isInUse(part) && fresh.outerHTML !== originals.get(part)) swap(part, fresh)
  }
  return true
}

/**
 * What each part was before scripts wrote into it.
 * @type {WeakMap<Element, string>}
 */
const originals = new WeakMap()

/**
 * @param {Element} part
 * @param {Element} fresh
 */
function swap(part, fresh) {
  originals.set(fresh, fresh.outerHTML)
  part.replaceWith(fresh)
  fresh.dispatchEvent(new Event('swapped', { bubbles: true }))
}

/**
 * Whether the focus or a selection is in a part, or something in it was opened: that would be lost.
 * @param {Element} part
 */
function isInUse(part) {
  const selection = getSelection()
  if (part.contains(document.activeElement) || part.querySelector('details[open]') !== null) return true
  return selection !== null && !selection.isCollapsed && selection.containsNode(part, true)
}
