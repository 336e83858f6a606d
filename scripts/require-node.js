// Runs before every script that needs a recent Node, and says what to do when it is not there. Old syntax and no
// imports, so that an old Node can read it.
var NEEDED_MAJOR = 24

if (parseInt(process.versions.node, 10) < NEEDED_MAJOR) {
  console.error(
    [
      'This is Node ' + process.versions.node + '; the scripts of this repository need Node ' + NEEDED_MAJOR + '.',
      '',
      'On Linux (x64, arm64) and Windows (x64) the right one is installed with the other packages:',
      '  npm ci            and then start scripts through npm: npm test, npm start, npm run unit',
      'On macOS and elsewhere please bring your own:',
      '  nvm install ' + NEEDED_MAJOR + '    or fnm, volta, brew, or an installer from nodejs.org',
    ].join('\n'),
  )
  process.exit(1)
}
