// The rules for the scripts of the pages; build/scripts/lint.sh runs ESLint with them.
import js from '@eslint/js';
import globals from 'globals';

const script = (extra) => ({
  sourceType: 'script',
  parserOptions: {ecmaFeatures: {impliedStrict: true}},
  globals: {...globals.browser, ...extra},
});

export default [
  js.configs.recommended,
  {linterOptions: {reportUnusedDisableDirectives: 'error'}},
  // Each script of the report has a block of its own, see joinAssets in profile/report/document.go,
  // and the scripts share the object profuse alone.
  {files: ['profile/report/assets/*.js'], languageOptions: script({profuse: 'readonly'})},
  {files: ['internal/dropin/cov/assets/*.js'], languageOptions: script({})},
  {files: ['build/site/.vitepress/*.js', 'build/tools/eslint/*.js'], languageOptions: {globals: globals.node}},
];
