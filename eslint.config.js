import regexp from 'eslint-plugin-regexp'
import neostandard from 'neostandard'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'var/',
      '.tap/',
      '.test/',
      '.venv/',
      '.venv-bench/',
      '.checks/',
      '.clients/',
    ],
  },
  ...neostandard({ ts: true, noStyle: true }),
  {
    files: ['**/*.ts', '**/*.cts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'no-void': ['error', { allowAsStatement: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { regexp },
    // A pattern that is slow for some text would let one request stop all others.
    rules: { 'regexp/no-super-linear-backtracking': 'error' },
  },
)
