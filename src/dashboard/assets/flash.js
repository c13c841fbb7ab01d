// Takes what was done out of the address of the page that says so: loaded again, or kept, it would say it again.

const url = new URL(location.href)
if (url.searchParams.has('done')) {
  url.searchParams.delete('done')
  history.replaceState(history.state, '', url)
}
