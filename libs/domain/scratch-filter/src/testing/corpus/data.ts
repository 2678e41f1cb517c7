import type { CorpusProject } from '../corpus-project';

export const DATA_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'machine learning experiment',
    tracked: ['pyproject.toml', 'train.py', 'configs/base.yaml', 'src/model.py', 'data/README.md', '.gitignore'],
    keep: [
      'configs/large.yaml',
      'src/attention.py',
      'src/temperature.py',
      'tests/test_attention.py',
      'tests/conftest.py',
      'scripts/download_data.sh',
      'results/table.csv',
      'figures/loss.png',
      'requirements.txt',
      'eval.py',
    ],
    hold: {
      directory: [
        '.venv/pyvenv.cfg',
        '.venv/bin/pip',
        'src/__pycache__/model.cpython-312.pyc',
        '.cache/huggingface/token',
      ],
      dropping: ['train.log', 'nohup.out', 'train.py.bak'],
      throwaway: ['test_gpu.py', 'debug_shapes.py', 'check_cuda.py', 'tmp.ipynb', 'train_output.txt'],
      agent: ['EXPERIMENT_NOTES.md', 'PROGRESS.md'],
      secret: ['.env', '.netrc'],
    },
  },
  {
    name: 'notebooks for a report',
    tracked: ['report.ipynb', 'environment.yml', 'data/2023.csv'],
    keep: ['data/2024.csv', 'figures/trend.svg', 'report.html', 'cleaning.ipynb', 'lib/plots.py', 'README.md'],
    hold: {
      directory: ['.ipynb_checkpoints/report-checkpoint.ipynb', 'tmp/raw.parquet', 'scratch/idea.ipynb'],
      dropping: ['report.ipynb~', '.DS_Store', 'jupyter.log'],
      throwaway: ['test_plot.py', 'debug.ipynb', 'output.txt', 'screenshot-1.png'],
      agent: ['FINDINGS.md', 'data_analysis_summary.md'],
    },
  },
  {
    name: 'dbt warehouse',
    tracked: ['dbt_project.yml', 'models/orders.sql', 'tests/assert_positive_total.sql', 'seeds/countries.csv'],
    keep: [
      'models/customers.sql',
      'tests/assert_unique_customer.sql',
      'macros/cents.sql',
      'models/schema.yml',
      'packages.yml',
    ],
    hold: {
      directory: ['logs/dbt.log', '.venv/bin/dbt'],
      dropping: ['models/orders.sql.orig', 'dbt.log'],
      secret: ['profiles.key', 'service-account.json'],
      throwaway: ['check_rows.py', 'test_query.sh', 'out.txt'],
      agent: ['PLAN.md'],
    },
  },
  {
    name: 'scraper that saves pages',
    tracked: [
      'scraper/spider.py',
      'scrapy.cfg',
      'requirements.txt',
      'tests/fixtures/page1.html',
      'tests/test_spider.py',
    ],
    keep: [
      'scraper/pipeline.py',
      'tests/fixtures/page2.html',
      'tests/fixtures/error.log',
      'tests/test_pipeline.py',
      'tests/__init__.py',
      'docs/robots.md',
    ],
    hold: {
      directory: [
        '.scrapy/httpcache/1',
        'scraper/__pycache__/spider.pyc',
        'tmp/page.html',
        '.pytest_cache/CACHEDIR.TAG',
      ],
      dropping: ['spider.log', 'spider.log.1'],
      throwaway: ['test.html', 'debug_selector.py', 'try_login.py', 'test_output.txt', 'screenshot.png'],
      agent: ['NOTES.md'],
      secret: ['cookies.txt'],
    },
    contents: {
      'cookies.txt': '# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t0\tsession\tq9fh3kd82jfk3\n',
    },
  },
  {
    name: 'r package',
    tracked: ['DESCRIPTION', 'R/fit.R', 'tests/testthat/test-fit.R', 'man/fit.Rd', 'NAMESPACE'],
    keep: [
      'R/predict.R',
      'tests/testthat/test-predict.R',
      'man/predict.Rd',
      'vignettes/intro.Rmd',
      'data/trees.rda',
      'NEWS.md',
    ],
    hold: {
      dropping: ['.Rhistory', 'R/fit.R~'],
      throwaway: ['test.R', 'debug_fit.R', 'check_fit.R'],
      agent: ['summary.md'],
    },
  },
  {
    name: 'etl scripts without a manifest',
    tracked: ['extract.py', 'transform.py', 'load.py', 'run.sh', 'sql/schema.sql'],
    keep: [
      'validate.py',
      'sql/views.sql',
      'config.example.yaml',
      'README.md',
      'tests/test_transform.py',
      'lib/dates.py',
    ],
    hold: {
      dropping: ['run.log', 'extract.py.save', 'core.4242', 'etl.pid'],
      throwaway: ['test_transform_quick.py', 'verify_load.py', 'error.txt', 'temp.csv', 'repro.py'],
      directory: ['tmp/dump.sql', 'logs/2024-01-01.log', '__pycache__/load.cpython-311.pyc'],
      secret: ['.env', '.pgpass', 'secrets.yaml'],
    },
  },
];
