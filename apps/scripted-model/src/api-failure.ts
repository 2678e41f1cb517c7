/** The error body of the OpenAI API. */
export interface ApiErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** A request that is answered with an error, in the form in which the OpenAI API answers it. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';

  constructor(
    readonly status: number,
    message: string,
    private readonly code: string | null = null,
    private readonly param: string | null = null,
  ) {
    super(message);
  }

  body(): ApiErrorBody {
    const type = this.status < 500 ? 'invalid_request_error' : 'server_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}
