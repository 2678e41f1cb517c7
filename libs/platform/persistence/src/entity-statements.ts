import type { DataSource, EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';

/** Which rows: those whose columns have these values; of a list, any of them. */
export type RowCondition<Row> = {
  readonly [Property in keyof Row]?: Row[Property] extends string | number
    ? Row[Property] | readonly Row[Property][]
    : never;
};

/**
 * The statements of one entity that many requests wait for, as SQL that is made once of its metadata. TypeORM's query
 * builder makes its SQL anew for each statement, which takes a service longer than Postgres takes to run it.
 */
export class EntityStatements<Row extends ObjectLiteral> {
  private readonly metadata: EntityMetadata;
  private readonly table: string;
  private readonly columns: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly Entity: new () => Row,
  ) {
    this.metadata = dataSource.getMetadata(Entity);
    this.table = `"${this.metadata.schema}"."${this.metadata.tableName}"`;
    this.columns = this.metadata.columns.map(({ databaseName }) => `"${databaseName}"`).join(', ');
  }

  /** Inserts one row, every column of which is given. */
  insertion(row: Row): { readonly sql: string; readonly values: readonly unknown[] } {
    const values = this.metadata.columns.map((column) => this.stored(column.propertyName, column.getEntityValue(row)));
    const places = values.map((_, at) => `$${at + 1}`).join(', ');
    return { sql: `INSERT INTO ${this.table} (${this.columns}) VALUES (${places})`, values };
  }

  /** `order` is SQL behind the condition, in column names. */
  async find(condition: RowCondition<Row>, order = ''): Promise<Row[]> {
    const { sql, values } = this.condition(condition, 1);
    const found = await this.dataSource.query<Record<string, unknown>[]>(
      `SELECT ${this.columns} FROM ${this.table} WHERE ${sql} ${order}`,
      values,
    );
    return found.map((stored) => this.rowOf(stored));
  }

  /** Changes rows within the transaction of `manager`, and gives them as they are then. */
  async update(manager: EntityManager, condition: RowCondition<Row>, change: Partial<Row>): Promise<Row[]> {
    const changed = Object.entries(change);
    const assignments = changed.map(([property], at) => `${this.columnOf(property)} = $${at + 1}`).join(', ');
    const { sql, values } = this.condition(condition, changed.length + 1);
    const stored = changed.map(([property, value]) => this.stored(property, value));
    const [rows] = await manager.query<[Record<string, unknown>[], number]>(
      `UPDATE ${this.table} SET ${assignments} WHERE ${sql} RETURNING ${this.columns}`,
      [...stored, ...values],
    );
    return rows.map((row) => this.rowOf(row));
  }

  private condition(condition: RowCondition<Row>, firstPlace: number): { sql: string; values: unknown[] } {
    const entries = Object.entries(condition) as [string, unknown][];
    const sql = entries.map(([property, value], at) => {
      const place = `$${firstPlace + at}`;
      return `${this.columnOf(property)} = ${Array.isArray(value) ? `ANY(${place})` : place}`;
    });
    return { sql: sql.join(' AND '), values: entries.map(([, value]) => value) };
  }

  private columnOf(property: string): string {
    return `"${this.column(property).databaseName}"`;
  }

  private stored(property: string, value: unknown): unknown {
    return this.dataSource.driver.preparePersistentValue(value, this.column(property)) as unknown;
  }

  private column(property: string): EntityMetadata['columns'][number] {
    const column = this.metadata.findColumnWithPropertyName(property);
    if (column === undefined) throw new TypeError(`${this.metadata.name} has no column "${property}"`);
    return column;
  }

  private rowOf(stored: Record<string, unknown>): Row {
    const { driver } = this.dataSource;
    const row = new this.Entity();
    for (const column of this.metadata.columns) {
      column.setEntityValue(row, driver.prepareHydratedValue(stored[column.databaseName], column));
    }
    return row;
  }
}
