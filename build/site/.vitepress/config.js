// The documents as a web site: make site. The pages are those of the repository, so that a
// link which is right there is right here; one that leads nowhere fails the build.
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitepress';

// The pages lie outside this folder, and find its packages by these.
const modules = (name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));

const page = (text, name) => ({text, link: `/docs/${name}`});

export default defineConfig({
  title: 'profuse',
  description: 'A toolkit for compiler profiles',
  srcDir: '../..',
  srcExclude: ['bin/**', 'dist/**', 'build/**', '**/node_modules/**', 'bench/programs/**', '.github/**'],
  rewrites: {'README.md': 'index.md'},
  outDir: '../../bin/site',
  cacheDir: '../../bin/site-cache',
  cleanUrls: true,
  lastUpdated: false,
  // Files that are no pages, such as schemas and scripts, are links to the repository.
  ignoreDeadLinks: [/\.(json|go|sh|py|yaml|c|cpp|h)$/, /LICENSE$/],
  // Braces in documents are text.
  markdown: {config: (md) => { md.renderer.rules.code_inline = (tokens, i) => `<code v-pre>${md.utils.escapeHtml(tokens[i].content)}</code>`; }},
  vite: {resolve: {alias: [
    {find: /^vue\/server-renderer$/, replacement: modules('vue/server-renderer/index.mjs')},
    {find: /^vue$/, replacement: modules('vue/dist/vue.runtime.esm-bundler.js')},
  ]}},
  themeConfig: {
    search: {provider: 'local'},
    socialLinks: [{icon: 'github', link: 'https://github.com/profuse-pgo/profuse'}],
    outline: [2, 3],
    sidebar: [
      {text: 'Start', items: [{text: 'What profuse is', link: '/'}, page('Recipes', 'recipes')]},
      {text: 'Guides', items: [
        page('Coverage', 'coverage'), page('Heap profiles', 'memprof'), page('Sample profiles', 'sample'), page('MIP', 'mip'), page('MIP: costs and gains', 'mip-benchmark'), page('MIP: design', 'mip-design'),
        page('GraalVM', 'iprof'), page('Fleets and buckets', 'fleet'), page('Watching a folder', 'watch'),
        page('The report page', 'report-page'), page('Exports', 'export'), page('Replacing llvm-cov', 'llvm-cov'),
      ]},
      {text: 'Reference', items: [
        page('Commands', 'commands'), page('JSON', 'json'), page('What version 1 promises', 'stability'), page('Go library', 'library'), page('Formats and versions', 'formats'),
      ]},
      {text: 'Explanations', items: [
        page('Differences from other tools', 'differences'), page('What the tools really do', 'what-tools-do'), page('Reliability', 'reliability'), page('Performance', 'performance'),
        page('Architecture', 'architecture'), {text: 'Contributing', link: '/CONTRIBUTING'}, {text: 'Changes', link: '/CHANGELOG'},
      ]},
    ],
  },
});
